/// `collmark explain`: one algorithm in words, drawings and numbers.
#include "collectives/explain.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <memory>

#include "bench/choice.hpp"
#include "bench/command.hpp"
#include "bench/in_range.hpp"
#include "bench/output.hpp"
#include "bench/pick.hpp"
#include "bench/size_grammar.hpp"
#include "bench/table.hpp"
#include "collectives/closed_form.hpp"
#include "collectives/cost.hpp"
#include "collectives/schedule_file.hpp"
#include "collectives/trace.hpp"

namespace collmark {
namespace {

constexpr std::int64_t kMostFileTransfers = 4'000'000;  // about 400 MB of JSON

constexpr int kMostRanks = 65'536;
constexpr std::int64_t kMostStepTransfers = 2'000'000;
constexpr double kMostCost = 1e6;  // [s] a message or a byte

struct Options {
  std::string algorithm = {};
  std::string ranks = {};
  std::string collective = {};
  int root = 0;
  std::string size = "1M";
  std::string trace = {};
  double alpha = 1e-6;  // [s]
  double beta = 1e-10;  // [s/B]
  double gamma = 0.0;   // [s/B]
  bool json = false;
};

struct Explained {
  Pick pick;
  Schedule schedule;
  TraceLoad load;
};

/// A count that ends at the limit: an all-to-all step of 65,536 ranks has 4 thousand million.
class Limit {
 public:
  Limit(std::int64_t most, std::string_view what) : most_(most), what_(what) {}
  void count(const Schedule& s, int step) {
    s.step(step, [&](const Transfer&) {
      if (++counted_ > most_)
        throw Error(ErrorKind::usage,
                    fmt::format("explain: {} has more than {} transfers; take fewer ranks", what_,
                                grouped(most_)));
    });
  }

 private:
  std::int64_t most_;
  std::string_view what_;
  std::int64_t counted_ = 0;
};

int ranks_of(const Options& options) {
  if (options.ranks.empty()) {
    if (is_file(options.algorithm)) return read_schedule(path_of(options.algorithm)).ranks;
    throw Error(ErrorKind::usage, "explain: how many ranks? Say --ranks N");
  }
  const std::vector<int> ranks = parse_ranks(options.ranks);
  if (ranks.size() > 1)
    throw Error(ErrorKind::usage,
                fmt::format("explain: --ranks takes one number, not '{}'", options.ranks));
  if (ranks.front() > kMostRanks)
    throw Error(ErrorKind::usage, fmt::format("explain: at most {} ranks", grouped(kMostRanks)));
  return ranks.front();
}

Explained prepared(const Options& options) {
  std::optional<Collective> only;
  if (!options.collective.empty()) only = choose("--collective", options.collective, kCollectives);
  const Pick pick = pick_one(options.algorithm, only);
  const Bytes size = parse_size(options.size);
  constexpr std::int64_t kElement = 4;
  if (size.value % kElement != 0)
    throw Error(ErrorKind::usage,
                fmt::format("explain: --size {} is no whole number of f32", options.size));
  return {
      .pick = pick,
      .schedule = build(pick.collective, pick.algorithm, ranks_of(options), options.root),
      .load = {
          .count = {size.value / kElement},
          .dtype = Dtype::f32,
          .link = {.alpha = Seconds(options.alpha), .beta = options.beta, .gamma = options.gamma}}};
}

/// "2(P-1) = 4"; a formula that is a number, or none at all, adds nothing to the value.
std::string formula_cell(std::string_view text, const std::string& value,
                         std::string_view relation) {
  const bool is_number = text.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? value : fmt::format("{} {} {}", text, relation, value);
}

/// The letters that the heading does not explain, where a formula has one of them.
std::string legend(const FormulaText& text) {
  for (const std::string_view formula : {text.steps, text.busiest, text.reduced, text.time})
    if (formula.find_first_of("LlskmnX") != std::string_view::npos)
      return "\n" + std::string(formula_legend());
  return "";
}

std::string cost_text(const Explained& e) {
  const Cost counted = cost(e.schedule, e.load.count, e.load.dtype, e.load.link);
  const std::string base = parse_algorithm(e.pick.algorithm).base;
  const auto formula = closed_form({.collective = e.pick.collective,
                                    .algorithm = base,
                                    .numbers = numbers_of(e.pick, e.schedule.ranks),
                                    .ranks = e.schedule.ranks,
                                    .count = e.load.count,
                                    .dtype = e.load.dtype,
                                    .link = e.load.link});
  const FormulaText text = formula_text(e.pick.collective, base).value_or(FormulaText{});
  const auto bytes = [](Bytes b) { return grouped(b.value) + " B"; };
  const auto cell = [&](std::string_view words, const std::string& value, bool at_most) {
    return formula ? formula_cell(words, value, at_most ? "<=" : "=") : std::string("-");
  };
  const ClosedForm f = formula.value_or(ClosedForm{});
  const bool steps_bound = f.steps_at_most, time_bound = f.time_at_most;
  const std::vector<std::vector<std::string>> rows = {
      {"steps", grouped(counted.steps), cell(text.steps, grouped(f.steps), steps_bound)},
      {"bytes, busiest rank", bytes(counted.busiest), cell(text.busiest, bytes(f.busiest), false)},
      {"bytes reduced, busiest", bytes(counted.busiest_reduced),
       cell(text.reduced, bytes(f.busiest_reduced), false)},
      {"messages, busiest rank", grouped(counted.busiest_messages), ""},
      {"bytes sent by all", bytes(counted.total), ""},
      {"time", readable(counted.time), cell(text.time, readable(f.time), time_bound)}};
  return fmt::format("\nCost for K = {} a rank, a = {} a message, b = {} s/B, g = {} s/B, P = {}\n",
                     readable(Bytes{e.load.count.value * 4}), readable(e.load.link.alpha),
                     e.load.link.beta, e.load.link.gamma, e.schedule.ranks) +
         fitted({{.name = "", .align = Align::left},
                 {.name = "counted"},
                 {.name = "formula", .align = Align::left}},
                rows) +
         legend(text);
}

std::string counted_noun(int count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string title(const Explained& e) {
  const Algorithm* const a = entry(e.pick);
  const Schedule& s = e.schedule;
  return fmt::format("{} {}: {}, {}, {}\n{}", name(e.pick.collective), e.pick.algorithm,
                     counted_noun(s.ranks, "rank"), counted_noun(s.chunks, "chunk"),
                     counted_noun(s.steps, "step"),
                     a == nullptr ? "" : fmt::format("Source: {}\n", a->source));
}

std::string as_file(const Schedule& s) {
  Limit limit(kMostFileTransfers, "a file");
  for (int t = 0; t < s.steps; ++t) limit.count(s, t);
  return to_json(s);
}

int run(const Options& options) {
  const Explained e = prepared(options);
  if (e.schedule.steps > 0) Limit(kMostStepTransfers, "the first step").count(e.schedule, 0);
  if (!options.trace.empty()) replace_file(options.trace, trace_json(e.schedule, e.load));
  if (options.json) {
    put(as_file(e.schedule));
    return 0;
  }
  put(title(e) + explain_steps(e.schedule) + cost_text(e));
  return 0;
}

}  // namespace

void add_explain(CLI::App& app, int& status) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command =
      app.add_subcommand("explain", "one algorithm: its steps drawn, its cost counted");
  command->add_option("ALGO", options->algorithm, "a name, name:parameter or file:PATH")
      ->required();
  command->add_option("--ranks", options->ranks, "how many ranks (a file has its own)");
  command->add_option("--collective", options->collective,
                      "which collective, if the name alone does not tell");
  command->add_option("--root", options->root, "root of broadcast and reduce")
      ->check(whole_in_range(0, kMostRanks - 1))
      ->capture_default_str();
  command->add_option("--size", options->size, "bytes of a rank's buffer, for the cost")
      ->capture_default_str();
  command->add_option("--alpha", options->alpha, "seconds a message")
      ->check(in_range(0, kMostCost))
      ->capture_default_str();
  command->add_option("--beta", options->beta, "seconds a byte sent")
      ->check(in_range(0, kMostCost))
      ->capture_default_str();
  command->add_option("--gamma", options->gamma, "seconds a byte reduced")
      ->check(in_range(0, kMostCost))
      ->capture_default_str();
  command->add_option("--trace", options->trace,
                      "write a timeline for ui.perfetto.dev to this file");
  command->add_flag("--json", options->json,
                    "the schedule as a file that verify and sweep read (file:PATH)");
  command->footer("Example:  collmark explain ring --ranks 4 --trace ring.json");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace collmark
