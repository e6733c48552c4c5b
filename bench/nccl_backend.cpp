#include "bench/nccl_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "bench/cuda_names.hpp"
#include "bench/device_operation.hpp"
#include "bench/leave_behind.hpp"
#include "bench/library_name.hpp"
#include "bench/solo_team.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr std::chrono::milliseconds kAfterAbort{2'000};  // that kernels are given to end

/// Opens a T, or says why not.
template <class T>
std::pair<std::unique_ptr<T>, std::string> opened() {
  try {
    return {std::make_unique<T>(), ""};
  } catch (const Error& e) {
    return {nullptr, e.what()};
  }
}

/// Why nobody would learn anything from it; one line.
std::string obstacle(const Case& c, const NcclTask& task, const NcclChoice& choice, int gpus) {
  if (c.ranks == 1) return "a one-rank NCCL runs no kernel and is no baseline";
  if (c.ranks > gpus)
    return fmt::format("{} ranks, {} GPU{}: NCCL refuses two ranks on one GPU (up to 2.29)",
                       c.ranks, gpus, gpus == 1 ? "" : "s");
  if (choice.is_forced() && c.collective == Collective::all_to_all)
    return "NCCL's sends and receives, of which this consists, have no algorithm to force";
  return nccl_obstacle(task, c.ranks);
}

std::string shown(const NcclChoice& choice) {
  std::string text = usual_nccl_name(choice.algorithm);
  if (!choice.protocol.empty()) text += "/" + usual_nccl_name(choice.protocol);
  return text;
}

/// Of the column `tuning`.
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

/// A collective of NCCL's, and what times and checks it.
struct NcclBackend::Running {
  Running(NcclGroup& group, const NcclTask& task, NcclBuffers buffers)
      : collective(group, task, buffers) {}
  NcclCollective collective;
  std::optional<DeviceOperation> operation;
};

NcclBackend::NcclBackend(const BackendOptions& options) : options_(options) {
  std::string no_gpus, no_nccl;
  std::tie(gpus_, no_gpus) = opened<Gpus>();
  std::tie(nccl_, no_nccl) = opened<Nccl>();
  if (gpus_ && nccl_) return;
  const std::string library = nccl_ ? nccl_->name() + " is here" : no_nccl;
  availability_ = {.here = false,
                   .reason = gpus_ ? library : fmt::format("{}; {}", no_gpus, library)};
}

NcclBackend::~NcclBackend() = default;

/// Buffers, and as much again for what NCCL keeps.
Bytes NcclBackend::memory_needed(const Case& c) const {
  const std::int64_t copies = c.placement == Placement::in_place ? 2 : 3;
  return copies_of(c.size(), copies);
}

Bytes NcclBackend::memory_available() const {
  return gpus_ ? gpus_->free_memory(gpus_->size()) : Bytes{};
}

std::vector<std::string> NcclBackend::devices() const {
  std::vector<std::string> all;
  if (nccl_)
    all.push_back(fmt::format("{}, called as nccl.h of {} declares it", nccl_->name(),
                              nccl_version(nccl::kHeaderVersion)));
  for (int d = 0; gpus_ && d < gpus_->size(); ++d) all.push_back(describe((*gpus_)[d]));
  return all;
}

void NcclBackend::begin_launch(int ranks) {
  groups_.clear();
  everybody_.reset();
  most_ranks_ = ranks;
}

CaseResult NcclBackend::run(const Case& c) {
  if (!availability_.here || !gpus_)
    return {.status = Status::skipped, .reason = availability_.reason, .algorithm = c.algorithm};
  CaseResult result{.implementation = nccl_->name(), .algorithm = c.algorithm};
  measure_or_skip(result, [&] {
    if (!is_library(c.algorithm))
      throw Unsupported("collmark's own kernels run with --backend cuda");
    measure_into(result, c);
  });
  return result;
}

HostPatience NcclBackend::patience() const {
  return {.timeout = options_.timeout, .interrupted = &interrupted_};
}

NcclBackend::Key NcclBackend::key(const Case& c, const NcclChoice& choice) const {
  return {c.ranks, choice.is_forced() ? c.collective : Collective::all_reduce, choice.algorithm,
          choice.protocol};
}

/// The largest first, the others split from it: much of what NCCL finds out is then known.
NcclGroup& NcclBackend::group(const Case& c, const NcclChoice& choice) {
  if (everybody_ && everybody_->size() < c.ranks) begin_launch(c.ranks);
  if (!everybody_) {
    std::vector<Gpu*> gpus;
    for (int d = 0; d < std::clamp(most_ranks_, c.ranks, gpus_->size()); ++d)
      gpus.push_back(&(*gpus_)[d]);
    everybody_ = std::make_unique<NcclGroup>(*nccl_, gpus, patience());
  }
  if (c.ranks == everybody_->size() && !choice.is_forced()) return *everybody_;
  std::unique_ptr<NcclGroup>& group = groups_[key(c, choice)];
  if (group) return *group;
  const ForcedChoice forced(*nccl_, c.collective, choice);
  try {
    group = everybody_->split(c.ranks);
  } catch (const Error& e) {
    groups_.erase(key(c, choice));
    if (everybody_->aborted()) begin_launch(most_ranks_);
    if (e.kind() == ErrorKind::lost && choice.is_forced()) throw Unsupported(e.what());
    throw;
  }
  return *group;
}

void NcclBackend::measure_into(CaseResult& result, const Case& c) {
  const NcclName name = parse_nccl_name(c.algorithm);
  const NcclTask task{.collective = c.collective,
                      .root = c.root,
                      .payload = {c.count, c.dtype, c.op},
                      .placement = c.placement};
  if (std::string why = obstacle(c, task, name.choice, gpus_->size()); !why.empty())
    throw Unsupported(why);
  auto running = std::make_unique<Running>(group(c, name.choice), task, name.buffers);
  try {
    running->operation.emplace(running->collective,
                               DeviceOperation::What{.payload = task.payload,
                                                     .placement = c.placement,
                                                     .patience = patience(),
                                                     .evicts = c.measure.cache == CacheState::cold,
                                                     .hooks = test_hooks_from_environment()});
    measure_with(*running, result, c, name);
  } catch (const Unsupported&) {
    throw;
  } catch (const Error& e) {
    give_up(std::move(running), key(c, name.choice));
    if (e.kind() == ErrorKind::incomparable) throw Unsupported(e.what());
    if (e.kind() != ErrorKind::timed_out) throw;
    throw Error(ErrorKind::timed_out, fmt::format("NCCL's {} on {} ranks was aborted: {}",
                                                  collmark::name(c.collective), c.ranks, e.what()));
  }
}

/// After an error a communicator is of no use, and its kernels may wait for each other for ever.
void NcclBackend::give_up(std::unique_ptr<Running> running, const Key& key) {
  const auto found = groups_.find(key);
  const bool is_everybody = found == groups_.end();
  std::unique_ptr<NcclGroup> group =
      is_everybody ? std::move(everybody_) : std::move(found->second);
  if (!is_everybody) groups_.erase(found);
  if (running->operation) running->operation->let_go();
  group->abort();
  const auto begin = std::chrono::steady_clock::now();
  const auto idle = [&] { return !running->operation || running->operation->idle(); };
  while (!idle() && std::chrono::steady_clock::now() - begin < kAfterAbort)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (idle()) {
    running.reset();  // its buffers still ask for the group
    if (is_everybody) groups_.clear();
    return;
  }
  leave_behind(std::move(running));
  leave_behind(std::move(group));
  if (everybody_) leave_behind(std::move(everybody_));
  for (auto& [_, other] : std::exchange(groups_, {})) leave_behind(std::move(other));
  leave_behind(std::move(gpus_));
  availability_ = {.here = false, .reason = "a GPU has not come to an end"};
}

void NcclBackend::measure_with(Running& running, CaseResult& result, const Case& c,
                               const NcclName& name) {
  result.device = (*gpus_)[0].facts().name;
  result.devices = running.collective.devices();
  try_out(running, result, c, name);
  SoloTeam all_ranks;
  result.measurement = measure(all_ranks, *running.operation, c.measure);
  if (result.measurement.correct()) return;
  result.status = Status::failed;
  result.reason = describe(result.measurement.check, c.dtype);
}

/// Untimed: what ran is known afterwards, and connections that NCCL makes at the first use are made.
void NcclBackend::try_out(Running& running, CaseResult& result, const Case& c,
                          const NcclName& name) {
  const NcclChoice& choice = name.choice;
  std::optional<TuningLog::Ran> ran;
  {
    const TuningLog log(*nccl_);
    try {
      running.collective
          .run();  // what NCCL cannot do it says here; later errors are none of the choice
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::lost || !choice.is_forced()) throw;
      throw Error(ErrorKind::incomparable, e.what());
    }
    running.operation->settle();
    if (name.replayed) running.operation->capture();  // NCCL chooses anew
    ran = log.ran();
  }
  result.tuning = tuning(ran, choice);
  if (!ran) return;
  if (differs(choice.algorithm, ran->algorithm) || differs(choice.protocol, ran->protocol))
    result.algorithm = fmt::format("{}->{}/{}", c.algorithm, usual_nccl_name(ran->algorithm),
                                   usual_nccl_name(ran->protocol));
}

}  // namespace collmark
