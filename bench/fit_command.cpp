#include <fmt/format.h>

#include <CLI/App.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "bench/command.hpp"
#include "bench/csv_reader.hpp"
#include "bench/json_text.hpp"
#include "bench/least_squares.hpp"
#include "bench/output.hpp"
#include "bench/table.hpp"
#include "bench/variant.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/cost.hpp"

namespace collmark {
namespace {

/// What is fitted together. Ranks that take turns on a core obey other constants.
struct FitKey {
  std::string backend, collective, algorithm;
  bool oversubscribed = false;
  friend auto operator<=>(const FitKey&, const FitKey&) = default;
};

constexpr int kMostRanks = 4096;  // counting the bytes of one row of them takes a second
constexpr std::int64_t kMostCount = std::int64_t{1} << 50;

struct FitInput {
  std::map<FitKey, std::vector<Observation>> groups;
  int used = 0, left_out = 0;  // rows
};

/// Bytes that the busiest rank reduces: not a column, counted from the schedule. 0 for a library,
/// whose schedule is its own.
double reduced_bytes(const CsvTable& table, std::size_t row) {
  const std::string& algorithm = table.cell(row, "algorithm");
  const auto collective = parse_collective(table.cell(row, "collective"));
  const auto dtype = parse_dtype(table.cell(row, "dtype"));
  if (!collective)
    throw Error(ErrorKind::usage, fmt::format("{}: expected a collective, found '{}'",
                                              table.where(row), table.cell(row, "collective")));
  if (!dtype)
    throw Error(ErrorKind::usage, fmt::format("{}: expected a dtype, found '{}'", table.where(row),
                                              table.cell(row, "dtype")));
  if (algorithm.starts_with("library")) return 0.0;
  const auto ranks = static_cast<int>(table.whole(row, "ranks", {1, kMostRanks}).value_or(0));
  const Elements count{table.whole(row, "count", {0, kMostCount}).value_or(0)};
  try {
    return static_cast<double>(
        cost(build(*collective, split_variant(algorithm).algorithm, ranks), count, *dtype)
            .busiest_reduced.value);
  } catch (const Error& e) {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", table.where(row), e.what()));
  }
}

bool is_usable(const CsvTable& table, std::size_t row) {
  return table.cell(row, "status") == "ok" && table.cell(row, "mode") == "latency" &&
         table.number(row, "time_us_p50").value_or(0.0) > 0.0 && table.number(row, "rounds") &&
         table.number(row, "wire_bytes_busiest");
}

/// A step packs, reduces and unpacks many buckets: its time is not that of one collective.
void refuse_steps(const CsvTable& table, const std::string& path) {
  if (table.has("model") && table.has("policy"))
    throw Error(
        ErrorKind::usage,
        fmt::format("{}:1: these rows are training steps; expected those of a sweep", path));
}

FitInput read_input(const std::string& path) {
  const CsvTable table = CsvTable::read(path);
  refuse_steps(table, path);
  FitInput input;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!is_usable(table, row)) {
      ++input.left_out;
      continue;
    }
    const FitKey key{table.cell(row, "backend"), table.cell(row, "collective"),
                     table.cell(row, "algorithm"), table.number(row, "oversubscribed") == 1.0};
    input.groups[key].push_back(
        {{*table.number(row, "rounds"), *table.number(row, "wire_bytes_busiest"),
          reduced_bytes(table, row)},
         *table.number(row, "time_us_p50") * 1e-6});
    ++input.used;
  }
  return input;
}

struct Fitted {
  FitKey key;
  std::size_t rows = 0;
  std::optional<Fit> fit;
};

/// Each algorithm by itself and, where there are several, all of one backend and collective
/// together: only between algorithms does the ratio of moved to reduced bytes differ, which tells
/// beta from gamma.
std::vector<Fitted> fit_all(const FitInput& input) {
  std::map<FitKey, std::vector<Observation>> together;
  std::map<FitKey, int> algorithms;
  std::vector<Fitted> all;
  for (const auto& [key, observations] : input.groups) {
    all.push_back({key, observations.size(), fit_relative(observations)});
    const FitKey pool{key.backend, key.collective, "(together)", key.oversubscribed};
    together[pool].insert(together[pool].end(), observations.begin(), observations.end());
    ++algorithms[pool];
  }
  for (const auto& [key, observations] : together)
    if (algorithms[key] > 1) all.push_back({key, observations.size(), fit_relative(observations)});
  return all;
}

std::string scaled(const std::optional<double>& coefficient, double unit) {
  return coefficient ? rounded(*coefficient / unit) : "-";
}

std::string table_of(const std::vector<Fitted>& all) {
  std::vector<std::vector<std::string>> rows;
  for (const Fitted& f : all) {
    std::vector<std::string> cells{f.key.backend, f.key.collective, f.key.algorithm,
                                   f.key.oversubscribed ? "taking turns" : "one core each",
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
    rows.push_back(std::move(cells));
  }
  return fitted({{.name = "backend", .align = Align::left},
                 {.name = "collective", .align = Align::left},
                 {.name = "algorithm", .align = Align::left},
                 {.name = "ranks", .align = Align::left},
                 {.name = "rows"},
                 {.name = "alpha", .unit = "us/round"},
                 {.name = "beta", .unit = "ps/B"},
                 {.name = "gamma", .unit = "ps/B"},
                 {.name = "median error", .unit = "%"},
                 {.name = "worst error", .unit = "%"}},
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
                         {"oversubscribed", f.key.oversubscribed},
                         {"rows", f.rows}};
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
    "so its beta holds both.\n";

struct FitFlags {
  std::string path;
  bool json = false;
};

int fit(const FitFlags& flags) {
  const FitInput input = read_input(flags.path);
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
