#include "bench/nccl_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>

#include "bench/cuda_names.hpp"
#include "bench/device_operation.hpp"
#include "bench/gpu_case.hpp"
#include "bench/leave_behind.hpp"
#include "bench/nccl_case.hpp"
#include "bench/solo_team.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

/// Without it NCCL since 2.28 registers no buffers of several ranks of one process for NVLS.
///   Source   NCCL's release notes, 2.28; src/group.cc, ncclParamSingleProcMemRegEnable
constexpr const char* kRegistersInOneProcess = "NCCL_SINGLE_PROC_MEM_REG_ENABLE";

/// Opens a T, or says why not.
template <class T>
std::pair<std::unique_ptr<T>, std::string> opened() {
  try {
    return {std::make_unique<T>(), ""};
  } catch (const Error& e) {
    return {nullptr, e.what()};
  }
}

}  // namespace

/// A collective of NCCL's, and what times and checks it.
struct NcclBackend::Running {
  Running(NcclGroup& where, const NcclCaseTask& asked)
      : group(where), collective(where, asked.task, asked.name.buffers) {}
  NcclGroup& group;
  NcclCollective collective;
  std::optional<DeviceOperation> operation;
};

NcclBackend::NcclBackend(const BackendOptions& options) : options_(options) {
  // Before the first communicator: NCCL reads it once.
  if (options.registers) setenv(kRegistersInOneProcess, "1", 0);
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
  if (nccl_) all.push_back(nccl_line(nccl_->name()));
  for (int d = 0; gpus_ && d < gpus_->size(); ++d) all.push_back(describe((*gpus_)[d]));
  return all;
}

void NcclBackend::begin_launch(int ranks) {
  groups_.reset();
  most_ranks_ = ranks;
}

CaseResult NcclBackend::run(const Case& c) {
  if (!availability_.here || !gpus_)
    return {.status = Status::skipped, .reason = availability_.reason, .algorithm = c.algorithm};
  CaseResult result{.implementation = nccl_->name(), .algorithm = c.algorithm};
  measure_or_skip(result, [&] { measure_into(result, c); });
  return result;
}

HostPatience NcclBackend::patience() const {
  return {.timeout = options_.timeout, .interrupted = &interrupted_};
}

/// The largest first, the others split from it: much of what NCCL finds out is then known.
NcclGroup& NcclBackend::group(const NcclGroups::Wanted& wanted) {
  if (groups_ && (groups_->aborted() || groups_->size() < wanted.ranks)) groups_.reset();
  if (!groups_) {
    std::vector<Gpu*> gpus;
    for (int d = 0; d < std::clamp(most_ranks_, wanted.ranks, gpus_->size()); ++d)
      gpus.push_back(&(*gpus_)[d]);
    groups_ = std::make_unique<NcclGroups>(std::make_unique<NcclGroup>(*nccl_, gpus, patience()));
  }
  return groups_->of(wanted);
}

void NcclBackend::measure_into(CaseResult& result, const Case& c) {
  const NcclCaseTask asked = nccl_case_task(c);
  if (c.ranks > gpus_->size())
    throw Unsupported(
        fmt::format("{} ranks, {} GPU{}: NCCL refuses two ranks on one GPU (up to 2.29)", c.ranks,
                    gpus_->size(), gpus_->size() == 1 ? "" : "s"));
  const NcclGroups::Wanted wanted = asked.group(c.ranks);
  auto running = std::make_unique<Running>(group(wanted), asked);
  try {
    running->operation.emplace(running->collective,
                               DeviceOperation::What{.payload = asked.task.payload,
                                                     .placement = c.placement,
                                                     .patience = patience(),
                                                     .evicts = c.measure.cache == CacheState::cold,
                                                     .hooks = test_hooks_from_environment()});
    try_out(*running, result, asked.name);
    measure_with(*running, result, c);
  } catch (const Refused& e) {
    give_up(std::move(running), wanted);
    throw Unsupported(e.what());
  } catch (const Unsupported&) {
    throw;
  } catch (const Error& e) {
    give_up(std::move(running), wanted);
    if (e.kind() != ErrorKind::timed_out) throw;
    throw Error(ErrorKind::timed_out, fmt::format("NCCL's {} on {} ranks was aborted: {}",
                                                  collmark::name(c.collective), c.ranks, e.what()));
  }
}

/// After an error a communicator is of no use, and its kernels may wait for each other for ever.
void NcclBackend::give_up(std::unique_ptr<Running> running, const NcclGroups::Wanted& wanted) {
  if (abandon(running->group, running->operation ? &*running->operation : nullptr)) {
    running.reset();  // its buffers still ask for the group
    groups_->drop(wanted);
    return;
  }
  leave_behind(std::move(running));
  leave_behind(std::move(groups_));
  leave_behind(std::move(gpus_));
  availability_ = {.here = false, .reason = "a GPU has not come to an end"};
}

void NcclBackend::measure_with(Running& running, CaseResult& result, const Case& c) {
  result.device = (*gpus_)[0].facts().name;
  result.devices = running.collective.devices();
  SoloTeam all_ranks;
  result.gpu_before = condition_of(*gpus_, c.ranks, monitor_);
  result.measurement = measure(all_ranks, *running.operation, c.measure);
  result.gpu_after = condition_of(*gpus_, c.ranks, monitor_);
  if (result.measurement.correct()) return;
  result.status = Status::failed;
  result.reason = describe(result.measurement.check, c.dtype);
}

/// Untimed: what ran is known afterwards, and connections that NCCL makes at the first use are made.
void NcclBackend::try_out(Running& running, CaseResult& result, const NcclName& name) {
  const TuningLog log(*nccl_);
  run_forced(running.collective, name.choice);
  running.operation->settle();
  if (name.replayed) {  // NCCL chooses anew
    running.operation->capture();
    running.operation->settle();
  }
  note_what_ran(result, log.ran(), name.choice);
  const char* const registers = std::getenv(kRegistersInOneProcess);
  if (name.buffers == NcclBuffers::registered && registers != nullptr)
    result.tuning += fmt::format(" {}={}", kRegistersInOneProcess, registers);
}

}  // namespace collmark
