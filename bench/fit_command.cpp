#include <fmt/format.h>

#include <CLI/App.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/command.hpp"
#include "bench/fit_input.hpp"
#include "bench/json_text.hpp"
#include "bench/output.hpp"
#include "bench/table.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

struct Fitted {
  FitKey key;
  std::size_t rows = 0;
  std::optional<Fit> fit;
  std::vector<std::string> doubts = {};
};

constexpr double kLargeMedian = 0.1, kLargeWorst = 0.5;  // residuals: another model than this one

Fitted fitted_rows(const FitKey& key, const FitRows& rows) {
  Fitted result{
      .key = key, .rows = rows.observations.size(), .fit = fit_relative(rows.observations)};
  if (rows.counts.size() == 1) result.doubts.emplace_back("one size");
  if (result.fit &&
      (result.fit->median_residual > kLargeMedian || result.fit->worst_residual > kLargeWorst))
    result.doubts.emplace_back("large errors");
  return result;
}

/// Each algorithm by itself and, where there are several, all of one backend and collective
/// together: only between algorithms does the ratio of moved to reduced bytes differ, which tells
/// beta from gamma.
std::vector<Fitted> fit_all(const FitInput& input) {
  std::map<FitKey, FitRows> together;
  std::map<FitKey, int> algorithms;
  std::vector<Fitted> all;
  for (const auto& [key, rows] : input.groups) {
    all.push_back(fitted_rows(key, rows));
    FitKey pool = key;
    pool.algorithm = "(together)";
    FitRows& joint = together[pool];
    joint.observations.insert(joint.observations.end(), rows.observations.begin(),
                              rows.observations.end());
    joint.counts.insert(rows.counts.begin(), rows.counts.end());
    ++algorithms[pool];
  }
  for (const auto& [key, rows] : together)
    if (algorithms[key] > 1) all.push_back(fitted_rows(key, rows));
  return all;
}

std::string_view words_of(const FitKey& key) {
  if (key.hosts == Spread::one) return key.oversubscribed ? "taking turns" : "one core each";
  return key.hosts == Spread::one_a_rank ? "a host each, cores unknown"
                                         : "several hosts, cores unknown";
}

std::string_view name_of(Spread hosts) {
  if (hosts == Spread::one) return "one";
  return hosts == Spread::one_a_rank ? "one a rank" : "several";
}

std::string scaled(const std::optional<double>& coefficient, double unit) {
  return coefficient ? rounded(*coefficient / unit) : "-";
}

std::string table_of(const std::vector<Fitted>& all) {
  std::vector<std::vector<std::string>> rows;
  for (const Fitted& f : all) {
    std::vector<std::string> cells{
        f.key.backend,
        f.key.collective,
        f.key.algorithm,
        fmt::format("{} {} {} {}", f.key.dtype, f.key.placement, f.key.cache, f.key.tuning),
        std::string(words_of(f.key)),
        std::to_string(f.rows)};
    if (!f.fit) {
      cells.emplace_back("too few different rows");
    } else {
      const auto& [alpha, beta, gamma] = f.fit->coefficient;
      for (std::string cell :
           {scaled(alpha, 1e-6), scaled(beta, 1e-12), scaled(gamma, 1e-12),
            rounded(100.0 * f.fit->median_residual, 2), rounded(100.0 * f.fit->worst_residual, 2)})
        cells.push_back(std::move(cell));
    }
    if (f.fit) cells.push_back(fmt::format("{}", fmt::join(f.doubts, ", ")));
    rows.push_back(std::move(cells));
  }
  return fitted({{.name = "backend", .align = Align::left},
                 {.name = "collective", .align = Align::left},
                 {.name = "algorithm", .align = Align::left},
                 {.name = "case", .align = Align::left},
                 {.name = "ranks", .align = Align::left},
                 {.name = "rows"},
                 {.name = "alpha", .unit = "us/round"},
                 {.name = "beta", .unit = "ps/B"},
                 {.name = "gamma", .unit = "ps/B"},
                 {.name = "median error", .unit = "%"},
                 {.name = "worst error", .unit = "%"},
                 {.name = "doubts", .align = Align::left}},
                rows);
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json json_of(const std::vector<Fitted>& all) {
  nlohmann::json list = nlohmann::json::array();
  for (const Fitted& f : all) {
    nlohmann::json entry{{"backend", f.key.backend},
                         {"collective", f.key.collective},
                         {"algorithm", f.key.algorithm},
                         {"dtype", f.key.dtype},
                         {"placement", f.key.placement},
                         {"cache", f.key.cache},
                         {"asked_tuning", f.key.tuning},
                         {"hosts", name_of(f.key.hosts)},
                         {"rows", f.rows},
                         {"doubts", f.doubts}};
    entry["oversubscribed"] =
        f.key.hosts == Spread::one ? nlohmann::json(f.key.oversubscribed) : nullptr;
    const Fit fit = f.fit.value_or(Fit{});
    entry["alpha_s"] = or_null(fit.coefficient[0]);
    entry["beta_s_per_byte"] = or_null(fit.coefficient[1]);
    entry["gamma_s_per_byte"] = or_null(fit.coefficient[2]);
    entry["median_relative_residual"] = f.fit ? nlohmann::json(fit.median_residual) : nullptr;
    entry["worst_relative_residual"] = f.fit ? nlohmann::json(fit.worst_residual) : nullptr;
    list.push_back(std::move(entry));
  }
  return list;
}

constexpr std::string_view kLegend =
    "time = alpha x rounds + beta x bytes moved by the busiest rank + gamma x bytes it reduces.\n"
    "-: the rows cannot tell it from the others: a ring reduces half of what it moves at every "
    "size,\n"
    "so its beta holds both.\n"
    "one size: alpha and beta are told apart by the number of ranks alone, and take up whatever "
    "else\n"
    "changes with it; measure several sizes. large errors: a median over 10 % or a worst over 50 "
    "%:\n"
    "the rows do not follow the model.\n";

struct FitFlags {
  std::string path;
  bool json = false;
};

int fit(const FitFlags& flags) {
  const FitInput input = fit_input(flags.path);
  if (input.used == 0)
    throw Error(ErrorKind::incomparable,
                fmt::format("{}: no row with status ok, mode latency and a time ({} others)",
                            flags.path, input.left_out));
  const std::vector<Fitted> all = fit_all(input);
  if (flags.json) {
    put(json_text(nlohmann::json{{"fits", json_of(all)}, {"rows_left_out", input.left_out}}));
    return 0;
  }
  put(table_of(all));
  put(std::string("\n") + std::string(kLegend));
  if (input.left_out > 0)
    put(fmt::format("{} of {} rows left out: not ok, or not latency mode\n", input.left_out,
                    input.left_out + input.used));
  return 0;
}

}  // namespace

void add_fit(CLI::App& app, int& status) {
  auto* const command =
      app.add_subcommand("fit", "alpha, beta and gamma of a sweep, with residuals");
  const auto flags = std::make_shared<FitFlags>();
  command->add_option("results", flags->path, "results.csv of a sweep")->required();
  command->add_flag("--json", flags->json, "one JSON document on stdout");
  command->footer("Example:  collmark fit results.csv");
  command->callback([&status, flags] { status = fit(*flags); });
}

}  // namespace collmark
