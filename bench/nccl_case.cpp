#include "bench/nccl_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "bench/library_name.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr std::chrono::milliseconds kAfterAbort{2'000};  // that kernels are given to end

/// Why nobody would learn anything from it; one line.
std::string obstacle(const Case& c, const NcclCaseTask& asked) {
  if (!is_library(c.algorithm)) return "collmark's own kernels run with --backend cuda";
  if (c.ranks == 1) return "a one-rank NCCL runs no kernel and is no baseline";
  if (asked.name.choice.is_forced() && c.collective == Collective::all_to_all)
    return "NCCL's sends and receives, of which this consists, have no algorithm to force";
  return nccl_obstacle(asked.task, c.ranks);
}

std::string shown(const NcclChoice& choice) {
  std::string text = usual_nccl_name(choice.algorithm);
  if (!choice.protocol.empty()) text += "/" + usual_nccl_name(choice.protocol);
  return text;
}

std::string tuning(const std::optional<TuningLog::Ran>& ran, const NcclChoice& choice) {
  if (ran)
    return fmt::format("algorithm={} protocol={} channels={}", usual_nccl_name(ran->algorithm),
                       usual_nccl_name(ran->protocol), ran->channels);
  if (!choice.is_forced()) return "NCCL does not say what ran";
  return fmt::format("asked for {}; NCCL does not say what ran", shown(choice));
}

bool differs(const std::string& asked, const std::string& ran) {
  return !asked.empty() && usual_nccl_name(asked) != usual_nccl_name(ran);
}

}  // namespace

NcclCaseTask nccl_case_task(const Case& c) {
  NcclCaseTask asked{.task = {.collective = c.collective,
                              .root = c.root,
                              .payload = {c.count, c.dtype, c.op},
                              .placement = c.placement}};
  if (is_library(c.algorithm)) asked.name = parse_nccl_name(c.algorithm);
  if (std::string why = obstacle(c, asked); !why.empty()) throw Unsupported(why);
  return asked;
}

void run_forced(DeviceCollective& collective, const NcclChoice& choice) {
  try {
    collective.run();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::lost || !choice.is_forced()) throw;
    throw Refused(e.what());
  }
}

bool abandon(NcclGroup& group, DeviceWork* work) {
  if (work != nullptr) work->let_go();
  if (!group.abort()) return false;
  return work == nullptr || comes_to_an_end(*work, kAfterAbort);
}

void note_what_ran(CaseResult& result, const std::optional<TuningLog::Ran>& ran,
                   const NcclChoice& choice) {
  result.tuning = tuning(ran, choice);
  if (!ran) return;
  if (differs(choice.algorithm, ran->algorithm) || differs(choice.protocol, ran->protocol))
    result.algorithm +=
        fmt::format("->{}/{}", usual_nccl_name(ran->algorithm), usual_nccl_name(ran->protocol));
}

void note_what_ran(CaseResult& result, std::span<const std::optional<TuningLog::Ran>> ran,
                   std::size_t of, const NcclChoice& choice) {
  const std::string asked = result.algorithm;
  note_what_ran(result, ran[of], choice);
  std::vector<std::string> others;
  for (const auto& one : ran) {
    CaseResult other{.algorithm = asked};
    note_what_ran(other, one, choice);
    if (result.algorithm == asked) result.algorithm = other.algorithm;
    if (other.tuning == result.tuning) continue;
    if (std::find(others.begin(), others.end(), other.tuning) == others.end())
      others.push_back(other.tuning);
  }
  if (!others.empty()) result.tuning += fmt::format("; others {}", fmt::join(others, "; "));
}

std::string nccl_line(const std::string& library) {
  return fmt::format("{}, called as nccl.h of {} declares it", library,
                     nccl_version(nccl::kHeaderVersion));
}

}  // namespace collmark
