#include "bench/verify_kernels.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/choice.hpp"
#include "bench/cuda_names.hpp"
#include "bench/in_range.hpp"
#include "bench/json_text.hpp"
#include "bench/kernel_proof.hpp"
#include "bench/leave_behind.hpp"
#include "bench/output.hpp"
#include "bench/pick.hpp"
#include "bench/progress.hpp"
#include "bench/size_grammar.hpp"
#include "bench/table.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kLongestTimeout = 86'400;    // [s]
constexpr std::size_t kMostWrongKept = 4;  // of one kernel
constexpr Bytes kLargest{64 << 20};

/// All that was found out about one kernel.
struct KernelFinding {
  std::set<int> ranks = {};  // where all was equal, unless there is one below
  std::set<Dtype> dtypes = {};
  int compared = 0, wrong = 0;
  std::map<std::string, std::set<int>> skipped = {};  // reason -> ranks
  std::vector<std::string> first_wrong = {};
};

struct Findings {
  std::vector<KernelFinding> kernels = {};  // as the wish's
  std::set<std::string> symbols = {};       // that were launched
  int compared = 0, wrong = 0, skipped = 0;
};

struct Devices {
  Gpus& gpus;
  std::chrono::milliseconds timeout;
  HardInputs inputs = {};
};

void look_at(Findings& all, Devices& on, const ProofCase& c) {
  KernelFinding& found = all.kernels[c.kernel];
  try {
    const ProofResult result = prove(on.gpus, c, on.inputs, on.timeout);
    all.symbols.insert(result.symbol);
    ++found.compared, ++all.compared;
    found.ranks.insert(c.task.ranks);
    found.dtypes.insert(c.task.payload.dtype);
    if (result.wrong.empty()) return;
    ++found.wrong, ++all.wrong;
    if (found.first_wrong.size() < kMostWrongKept)
      found.first_wrong.push_back(
          fmt::format("{}: {} ({} {})", words(c), result.wrong, result.symbol, result.tuning));
  } catch (const Unsupported& why) {
    ++all.skipped;
    found.skipped[why.what()].insert(c.task.ranks);
  } catch (const Error& e) {
    throw Error(e.kind(), fmt::format("{}: {}", words(c), e.what()));
  }
}

Findings look_at_all(Gpus& gpus, const ProofWish& wish, std::chrono::milliseconds timeout) {
  const std::vector<ProofCase> plan = proof_plan(wish);
  Findings all{.kernels = std::vector<KernelFinding>(wish.kernels.size())};
  Devices on{gpus, timeout};
  Progress progress;
  Countdown countdown(static_cast<int>(plan.size()));
  for (const ProofCase& c : plan) {
    progress.show(countdown.state(words(c)));
    look_at(all, on, c);
    countdown.finished_one();
  }
  return all;
}

std::string verdict(const KernelFinding& f) {
  return f.wrong > 0 ? "WRONG" : f.compared > 0 ? "equal" : "skipped";
}

std::string text_of(const std::set<int>& ranks) {
  return ranges(std::vector<int>(ranks.begin(), ranks.end()));
}

std::string skipped_text(const KernelFinding& f) {
  if (f.skipped.empty()) return "";
  const auto& [reason, ranks] = *f.skipped.begin();
  const std::size_t others = f.skipped.size() - 1;
  return fmt::format("skipped {}: {}{}", text_of(ranks), reason,
                     others > 0 ? fmt::format("; {} other reasons, see --json", others) : "");
}

std::string dtypes_text(const KernelFinding& f) {
  std::vector<std::string_view> names;
  for (const Dtype dtype : f.dtypes) names.push_back(name(dtype));
  return fmt::format("{}", fmt::join(names, " "));
}

std::string summary(const Findings& all, const std::string& device) {
  return fmt::format(
      "{} results compared with the reference bit for bit, {} differ; {} kernels on {}; {} cases "
      "skipped\n",
      grouped(all.compared), grouped(all.wrong), all.symbols.size(), device, grouped(all.skipped));
}

void print_table(const Findings& all, const ProofWish& wish, const std::string& device) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t k = 0; k < wish.kernels.size(); ++k) {
    const KernelFinding& f = all.kernels[k];
    rows.push_back({std::string(name(wish.kernels[k].collective)), to_string(wish.kernels[k].name),
                    verdict(f), grouped(f.compared), text_of(f.ranks), dtypes_text(f),
                    skipped_text(f)});
  }
  put(fitted({{.name = "collective", .align = Align::left},
              {.name = "algorithm", .align = Align::left},
              {.name = "verdict", .align = Align::left},
              {.name = "results"},
              {.name = "ranks", .align = Align::left},
              {.name = "dtypes", .align = Align::left},
              {.name = "", .align = Align::left}},
             rows));
  for (const KernelFinding& f : all.kernels)
    for (const std::string& line : f.first_wrong) put("wrong: " + line + "\n");
  put(summary(all, device));
}

void print_json(const Findings& all, const ProofWish& wish, const std::string& device) {
  OrderedJson kernels = OrderedJson::array();
  for (std::size_t k = 0; k < wish.kernels.size(); ++k) {
    const KernelFinding& f = all.kernels[k];
    OrderedJson dtypes = OrderedJson::array(), skipped = OrderedJson::array();
    for (const Dtype dtype : f.dtypes) dtypes.push_back(name(dtype));
    for (const auto& [reason, ranks] : f.skipped)
      skipped.push_back({{"ranks", ranks}, {"reason", reason}});
    kernels.push_back({{"collective", name(wish.kernels[k].collective)},
                       {"algorithm", to_string(wish.kernels[k].name)},
                       {"verdict", f.wrong > 0 ? "wrong" : verdict(f)},
                       {"compared", f.compared},
                       {"different", f.wrong},
                       {"ranks", f.ranks},
                       {"dtypes", dtypes},
                       {"skipped", skipped},
                       {"wrong", f.first_wrong}});
  }
  put(json_text(OrderedJson{{"device", device},
                            {"compared", all.compared},
                            {"different", all.wrong},
                            {"skipped", all.skipped},
                            {"symbols", all.symbols},
                            {"kernels", kernels}}));
}

}  // namespace

void declare(CLI::App& command, KernelsToVerify& f) {
  command.add_option("--dtype", f.dtypes, "cuda: f32, f64, f16, bf16, i32, i64, u8")
      ->capture_default_str();
  command.add_option("--op", f.operators, "cuda: sum, prod, min, max, avg")->capture_default_str();
  command.add_option("--placement", f.placements, "cuda: in_place, out_of_place")
      ->capture_default_str();
  command.add_option("--size", f.size, "cuda: of the large buffers")->capture_default_str();
  command
      .add_option("--timeout", f.timeout, "cuda: seconds before a kernel that hangs is given up")
      ->check(whole_in_range(1, kLongestTimeout))
      ->capture_default_str();
}

std::string first_given(const CLI::App& command) {
  for (const char* flag : {"--dtype", "--op", "--placement", "--size", "--timeout"})
    if (command.count(flag) > 0) return flag;
  return "";
}

ProofWish wish_from(const KernelsToVerify& flags) {
  const Bytes large = parse_size(flags.size);
  if (large > kLargest)
    throw Error(ErrorKind::usage,
                fmt::format("--size {}: 64 MiB at most, since inputs of all ranks and dtypes are "
                            "kept on the host",
                            flags.size));
  return {.kernels = {},
          .ranks = {},
          .dtypes = choose_all("--dtype", flags.dtypes, kDtypes),
          .operators = choose_all("--op", flags.operators, kReduceOps),
          .placements = choose_all("--placement", flags.placements, kPlacements),
          .large = large};
}

int verify_kernels(const ProofWish& wish, std::chrono::milliseconds timeout, Listing listing) {
  auto gpus = std::make_unique<Gpus>();
  const std::string device = (*gpus)[0].facts().name;
  Findings all;
  try {
    all = look_at_all(*gpus, wish, timeout);
  } catch (...) {
    leave_behind(std::move(gpus));  // what hangs may use it
    throw;
  }
  listing == Listing::json ? print_json(all, wish, device) : print_table(all, wish, device);
  if (all.wrong > 0) return exit_code(ErrorKind::wrong_result);
  if (all.compared > 0) return 0;
  say("collmark: nothing could be compared\n");
  return exit_code(ErrorKind::incomparable);
}

}  // namespace collmark
