/// `collmark algorithms`: the catalogue, with what each algorithm costs.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/backend.hpp"
#include "bench/choice.hpp"
#include "bench/command.hpp"
#include "bench/json_text.hpp"
#include "bench/library_list.hpp"
#include "bench/output.hpp"
#include "bench/pick.hpp"
#include "bench/table.hpp"
#include "collectives/closed_form.hpp"
#include "collectives/cost.hpp"

namespace collmark {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kMostTriedRanks = 33;
constexpr std::array kShownRanks{4, 8, 16};
constexpr Elements kCount{1 << 20};  // of f32; divides evenly for the ranks shown

struct Options {
  std::string collective = {};
  std::string backend = "threads";
  bool json = false;
};

std::vector<int> supported_ranks(const Algorithm& a) {
  std::vector<int> ranks;
  for (int n = 1; n <= kMostTriedRanks; ++n) {
    try {
      (void)build(a.collective, a.name, n);
      ranks.push_back(n);
    } catch (const Unsupported&) {  // NOLINT(bugprone-empty-catch): not listed is the answer
    }
  }
  return ranks;
}

std::string limits_text(const std::vector<int>& supported) {
  if (supported.size() == kMostTriedRanks) return "any";
  std::vector<int> powers;
  for (int n = 1; n <= kMostTriedRanks; n *= 2) powers.push_back(n);
  return supported == powers ? "2^k" : ranges(supported);
}

/// Empty if these ranks are none of the algorithm's.
std::optional<Cost> cost_at(const Algorithm& a, int ranks) {
  try {
    return cost(build(a.collective, a.name, ranks), kCount, Dtype::f32);
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

double in_buffers(Bytes bytes) {
  return static_cast<double>(bytes.value) / static_cast<double>(kCount.value * 4);
}

std::string parameter_text(const Algorithm& a) {
  if (a.parameter.empty()) return "";
  if (std::holds_alternative<Algorithm::Grid>(a.builder))
    return fmt::format(":MxN {}, squarest", a.parameter);
  return fmt::format(":{} {}", a.standard > 0 ? std::to_string(a.standard) : "P/2", a.parameter);
}

std::vector<std::string> row(const Algorithm& a) {
  const FormulaText formula = formula_text(a.collective, a.name).value_or(FormulaText{});
  std::vector<std::string> cells = {std::string(a.name), limits_text(supported_ranks(a)),
                                    std::string(formula.steps), std::string(formula.busiest)};
  for (const int n : kShownRanks) {
    const std::optional<Cost> c = cost_at(a, n);
    cells.push_back(c ? rounded(in_buffers(c->busiest)) : "");
  }
  return cells;
}

void print_costs(Collective collective) {
  std::vector<Column> columns = {{.name = "algorithm", .align = Align::left},
                                 {.name = "ranks", .align = Align::left},
                                 {.name = "steps", .align = Align::left},
                                 {.name = "busiest rank", .unit = "bytes", .align = Align::left}};
  for (const int n : kShownRanks) columns.push_back({.name = fmt::format("P={}", n), .unit = "xK"});
  std::vector<std::vector<std::string>> rows;
  for (const Algorithm& a : catalogue(collective)) rows.push_back(row(a));
  put(fmt::format("{}\n", name(collective)) + fitted(std::move(columns), rows) + "\n");
}

void print_sources(const std::vector<Collective>& shown) {
  std::vector<std::vector<std::string>> rows;
  for (const Collective c : shown)
    for (const Algorithm& a : catalogue(c))
      rows.push_back(
          {std::string(name(c)), std::string(a.name), parameter_text(a), std::string(a.source)});
  put(fitted({{.name = "collective", .align = Align::left},
              {.name = "algorithm", .align = Align::left},
              {.name = "parameter", .unit = "default", .align = Align::left},
              {.name = "source", .align = Align::left}},
             rows));
}

OrderedJson to_json(const Algorithm& a) {
  const FormulaText formula = formula_text(a.collective, a.name).value_or(FormulaText{});
  OrderedJson costs = OrderedJson::array();
  for (const int n : kShownRanks)
    if (const std::optional<Cost> c = cost_at(a, n))
      costs.push_back({{"ranks", n},
                       {"rounds", c->steps},
                       {"wire_bytes_busiest_per_byte", in_buffers(c->busiest)}});
  const bool takes_one = std::holds_alternative<Algorithm::Segmented>(a.builder) && a.standard > 0;
  return {{"collective", name(a.collective)},
          {"name", a.name},
          {"parameter", a.parameter},
          {"default", takes_one ? OrderedJson(a.standard) : OrderedJson(nullptr)},
          {"ranks_up_to_33", supported_ranks(a)},
          {"formula",
           {{"rounds", formula.steps},
            {"wire_bytes_busiest", formula.busiest},
            {"bytes_reduced_busiest", formula.reduced},
            {"time", formula.time}}},
          {"costs", costs},
          {"source", a.source}};
}

int run(const Options& options) {
  std::vector<Collective> shown(kCollectives.begin(), kCollectives.end());
  if (!options.collective.empty())
    shown = {choose("--collective", options.collective, kCollectives)};
  const std::string& backend =
      backend_names()[choose_index("--backend", options.backend, backend_names())];
  if (backend == "mpi" || backend == "nccl") {
    put(options.json ? json_text(library_list_json(backend, shown)) : library_list(backend, shown));
    return 0;
  }
  if (options.json) {
    OrderedJson all = OrderedJson::array();
    for (const Collective c : shown)
      for (const Algorithm& a : catalogue(c)) all.push_back(to_json(a));
    put(json_text(OrderedJson{{"algorithms", all}}));
    return 0;
  }
  for (const Collective c : shown) print_costs(c);
  put("P ranks, K bytes a rank. P=4 xK: what the busiest rank sends or receives, whichever is\n"
      "more, in buffers of K bytes.\n" +
      std::string(formula_legend()) + "\n");
  print_sources(shown);
  put("\nA parameter follows a colon, as in double_binary_tree:16 or hierarchical_ring:2x4.\n");
  return 0;
}

}  // namespace

void add_algorithms(CLI::App& app, int& status) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command =
      app.add_subcommand("algorithms", "the catalogue: limits, steps, bytes, formulas, papers");
  command->add_option("--collective", options->collective, "only algorithms of this collective");
  command->add_option("--backend", options->backend,
                      "mpi, nccl: the library's own, as `library:ring`");
  command->add_flag("--json", options->json, "one JSON document on stdout");
  command->footer("Example:  collmark algorithms --collective all_reduce");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace collmark
