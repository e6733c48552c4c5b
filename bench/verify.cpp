/// `collmark verify`: symbolic proof of algorithms, for every size and type at once; of kernels, by running them.
#include "collectives/verify.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/choice.hpp"
#include "bench/command.hpp"
#include "bench/json_text.hpp"
#include "bench/output.hpp"
#include "bench/pick.hpp"
#include "bench/progress.hpp"
#include "bench/size_grammar.hpp"
#include "bench/table.hpp"
#include "bench/verify_kernels.hpp"
#include "collectives/schedule_file.hpp"

namespace collmark {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kMostRanks = 2048;  // a ring of them takes 3.4 GB: ranks x chunks x contributions
constexpr std::size_t kMostLintsShown = 8;  // of one algorithm

struct Options {
  std::vector<std::string> algorithms = {};
  std::string ranks = "";  // 1:33, of kernels 1:8
  std::string collective = "";
  std::string backend = "";
  KernelsToVerify kernels = {};
  bool json = false;
};

struct Skipped {
  int ranks;
  std::string reason;
};
struct Wrong {
  int ranks;
  std::vector<CounterExample> examples;
};
struct Linted {
  int ranks;
  Lint lint;
};

/// All that was found out about one algorithm.
struct Finding {
  Pick pick;
  std::vector<int> proved = {};
  std::vector<Skipped> skipped = {};
  std::vector<Wrong> wrong = {};
  std::vector<Linted> lints = {};
};

std::optional<Collective> only_collective(const Options& options) {
  if (options.collective.empty()) return std::nullopt;
  return choose("--collective", options.collective, kCollectives);
}

std::vector<Pick> wanted(const Options& options) {
  const std::optional<Collective> only = only_collective(options);
  std::vector<Pick> all;
  for (const std::string& algorithm : options.algorithms)
    for (Pick& p : picks(algorithm, only)) all.push_back(std::move(p));
  if (!options.algorithms.empty()) return all;
  for (const Algorithm& a : catalogue())
    if (!only || a.collective == *only) all.push_back({a.collective, std::string(a.name)});
  return all;
}

void examine(Finding& f, int ranks) {
  try {
    const Schedule s = build(f.pick.collective, f.pick.algorithm, ranks);
    if (std::int64_t{s.ranks} * s.chunks > kMostFileState)
      throw Unsupported(fmt::format("{} ranks x {} chunks are more than {} to follow", s.ranks,
                                    s.chunks, grouped(kMostFileState)));
    const Verdict verdict = verify(s);
    for (const Lint& lint : verdict.lints) f.lints.push_back({ranks, lint});
    if (verdict.ok())
      f.proved.push_back(ranks);
    else
      f.wrong.push_back({ranks, verdict.wrong});
  } catch (const Unsupported& why) {
    f.skipped.push_back({ranks, why.what()});
  }
}

std::vector<Finding> examine_all(const std::vector<Pick>& all, const std::vector<int>& ranks) {
  std::vector<Finding> findings;
  Progress progress;
  for (const Pick& pick : all) {
    Finding f{pick};
    // A file is for one number of ranks, whatever --ranks says.
    const std::vector<int> these =
        is_file(pick.algorithm) ? std::vector{read_schedule(path_of(pick.algorithm)).ranks} : ranks;
    for (const int n : these) {
      progress.show(
          {.what = fmt::format("{} {}, {} ranks", name(pick.collective), pick.algorithm, n),
           .done = static_cast<int>(findings.size()),
           .total = static_cast<int>(all.size())});
      examine(f, n);
    }
    findings.push_back(std::move(f));
  }
  return findings;
}

std::string skipped_text(const Finding& f) {
  if (f.skipped.empty()) return "";
  std::vector<int> ranks;
  ranks.reserve(f.skipped.size());
  for (const Skipped& s : f.skipped) ranks.push_back(s.ranks);
  return fmt::format("skipped {}: {}", ranges(ranks), f.skipped.front().reason);
}

std::string verdict_text(const Finding& f) {
  if (!f.wrong.empty()) return "WRONG";
  return f.proved.empty() ? "skipped" : "proved";
}

void print_table(const std::vector<Finding>& findings) {
  std::vector<std::vector<std::string>> rows;
  for (const Finding& f : findings)
    rows.push_back({std::string(name(f.pick.collective)), f.pick.algorithm, verdict_text(f),
                    ranges(f.proved), fmt::format("{}", f.lints.size()), skipped_text(f)});
  put(fitted({{.name = "collective", .align = Align::left},
              {.name = "algorithm", .align = Align::left},
              {.name = "verdict", .align = Align::left},
              {.name = "ranks proved", .align = Align::left},
              {.name = "lints"},
              {.name = "", .align = Align::left}},
             rows));
}

void print_details(const Finding& f) {
  const std::string who = fmt::format("{} {}", name(f.pick.collective), f.pick.algorithm);
  for (const Wrong& w : f.wrong)
    for (const CounterExample& e : w.examples)
      put(fmt::format("wrong: {}, {} ranks: {}\n", who, w.ranks, to_string(e)));
  for (std::size_t i = 0; i < std::min(f.lints.size(), kMostLintsShown); ++i)
    put(fmt::format("lint: {}, {} ranks: {}\n", who, f.lints[i].ranks, to_string(f.lints[i].lint)));
  if (f.lints.size() > kMostLintsShown)
    put(fmt::format("lint: {}: {} more, see --json\n", who, f.lints.size() - kMostLintsShown));
}

std::string_view name(Lint::Kind kind) {
  switch (kind) {
    case Lint::Kind::write_write:
      return "write_write";
    case Lint::Kind::redundant_copy:
      return "redundant_copy";
    case Lint::Kind::unused_write:
      return "unused_write";
  }
  return "";
}

OrderedJson to_json(const Finding& f) {
  OrderedJson skipped = OrderedJson::array(), wrong = OrderedJson::array(),
              lints = OrderedJson::array();
  for (const Skipped& s : f.skipped) skipped.push_back({{"ranks", s.ranks}, {"reason", s.reason}});
  for (const Wrong& w : f.wrong)
    for (const CounterExample& e : w.examples)
      wrong.push_back({{"ranks", w.ranks},
                       {"step", e.step},
                       {"rank", e.rank},
                       {"chunk", e.chunk},
                       {"what", e.what}});
  for (const Linted& l : f.lints)
    lints.push_back({{"ranks", l.ranks},
                     {"kind", name(l.lint.kind)},
                     {"step", l.lint.step},
                     {"rank", l.lint.rank},
                     {"chunk", l.lint.chunk},
                     {"what", l.lint.what}});
  return {{"collective", collmark::name(f.pick.collective)},
          {"algorithm", f.pick.algorithm},
          {"verdict", f.wrong.empty() ? verdict_text(f) : "wrong"},
          {"proved", f.proved},
          {"skipped", skipped},
          {"wrong", wrong},
          {"lints", lints}};
}

int outcome(const std::vector<Finding>& findings) {
  const auto any = [&](auto list) {
    return std::any_of(findings.begin(), findings.end(),
                       [=](const Finding& f) { return !(f.*list).empty(); });
  };
  if (any(&Finding::wrong)) return exit_code(ErrorKind::wrong_result);
  return any(&Finding::proved) ? 0 : exit_code(ErrorKind::incomparable);
}

std::vector<int> ranks_of(const Options& options) {
  std::vector<int> ranks = parse_ranks(options.ranks.empty() ? "1:33" : options.ranks);
  for (const int n : ranks)
    if (n > kMostRanks)
      throw Error(ErrorKind::usage, fmt::format("verify: at most {} ranks, not {}", kMostRanks, n));
  return ranks;
}

int run(const Options& options) {
  const std::vector<Finding> findings = examine_all(wanted(options), ranks_of(options));
  if (options.json) {
    OrderedJson all = OrderedJson::array();
    for (const Finding& f : findings) all.push_back(to_json(f));
    put(json_text(OrderedJson{{"algorithms", all}}));
  } else {
    print_table(findings);
    for (const Finding& f : findings) print_details(f);
  }
  const int status = outcome(findings);
  if (status == exit_code(ErrorKind::incomparable)) say("collmark: nothing could be verified\n");
  return status;
}

int run_kernels(const Options& options) {
  (void)choose_index("--backend", options.backend, {"cuda"});
  ProofWish wish = wish_from(options.kernels);
  wish.kernels = kernel_picks(options.algorithms, only_collective(options));
  wish.ranks = parse_ranks(options.ranks.empty() ? "1:8" : options.ranks);
  return verify_kernels(wish, std::chrono::seconds(options.kernels.timeout),
                        options.json ? Listing::json : Listing::table);
}

}  // namespace

void add_verify(CLI::App& app, int& status) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command =
      app.add_subcommand("verify", "prove that algorithms compute what they owe");
  command->add_option("ALGO", options->algorithms,
                      "names, name:parameter or file:PATH; default: all");
  command->add_option("--ranks", options->ranks,
                      "rank counts to prove; a file has its own (default: 1:33, of kernels 1:8)");
  command->add_option("--collective", options->collective, "only algorithms of this collective");
  command->add_option("--backend", options->backend,
                      "cuda: run kernels, and compare with the reference bit for bit");
  declare(*command, options->kernels);
  command->add_flag("--json", options->json, "one JSON document on stdout");
  command->footer(
      "Example:  collmark verify ring swing --ranks 1:33\n"
      "          collmark verify ring one_shot/LL --backend cuda --dtype f16\n"
      "Exit code 5 and a counter-example if one is wrong, 6 if none could be built.");
  command->callback([options, command, &status] {
    if (const std::string flag = first_given(*command); options->backend.empty() && !flag.empty())
      throw Error(ErrorKind::usage, fmt::format("{} is of kernels: it needs --backend cuda", flag));
    status = options->backend.empty() ? run(*options) : run_kernels(*options);
  });
}

}  // namespace collmark
