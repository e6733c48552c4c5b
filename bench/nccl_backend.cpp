#include "bench/nccl_backend.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "bench/device_operation.hpp"
#include "bench/gpu_case.hpp"
#include "bench/nccl_case.hpp"
#include "bench/solo_team.hpp"
#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

/// Without it NCCL since 2.28 registers no buffers of several ranks of one process for NVLS.
///   Source   NCCL's release notes, 2.28; src/group.cc, ncclParamSingleProcMemRegEnable
constexpr const char* kRegistersInOneProcess = "NCCL_SINGLE_PROC_MEM_REG_ENABLE";

}  // namespace

/// A collective of NCCL's, and what times and checks it.
struct NcclBackend::Running : NcclRunning {
  Running(NcclGroup& where, const NcclCaseTask& asked)
      : NcclRunning(where), collective(where, asked.task, asked.name.buffers) {}
  [[nodiscard]] DeviceWork* work() override { return operation ? &*operation : nullptr; }
  NcclCollective collective;
  std::optional<DeviceOperation> operation;
};

NcclBackend::NcclBackend(const BackendOptions& options) : process_(options.timeout) {
  // Before the first communicator: NCCL reads it once.
  if (options.registers) setenv(kRegistersInOneProcess, "1", 0);
}

/// Buffers, and as much again for what NCCL keeps.
Bytes NcclBackend::memory_needed(const Case& c) const {
  const std::int64_t copies = c.placement == Placement::in_place ? 2 : 3;
  return copies_of(c.size(), copies);
}

Bytes NcclBackend::memory_available() const {
  return process_.free_memory(std::numeric_limits<int>::max());
}

CaseResult NcclBackend::run(const Case& c) {
  if (!availability().here)
    return {.status = Status::skipped, .reason = availability().reason, .algorithm = c.algorithm};
  CaseResult result{.implementation = process_.nccl().name(), .algorithm = c.algorithm};
  measure_or_skip(result, [&] { measure_into(result, c); });
  return result;
}

void NcclBackend::measure_into(CaseResult& result, const Case& c) {
  const NcclCaseTask asked = nccl_case_task(c);
  const NcclGroups::Wanted wanted = asked.group(c.ranks);
  auto owned = std::make_unique<Running>(process_.group(wanted), asked);
  Running& running = *owned;
  process_.watch(std::move(owned), wanted, collmark::name(c.collective), [&] {
    running.operation.emplace(running.collective,
                              DeviceOperation::What{.payload = asked.task.payload,
                                                    .placement = c.placement,
                                                    .patience = process_.patience(),
                                                    .evicts = c.measure.cache == CacheState::cold,
                                                    .hooks = test_hooks_from_environment()});
    try_out(running, result, asked.name);
    measure_with(running, result, c);
  });
}

void NcclBackend::measure_with(Running& running, CaseResult& result, const Case& c) {
  result.device = process_.gpus()[0].facts().name;
  result.devices = running.collective.devices();
  SoloTeam all_ranks;
  result.gpu_before = condition_of(process_.gpus(), c.ranks, monitor_);
  result.measurement = measure(all_ranks, *running.operation, c.measure);
  result.gpu_after = condition_of(process_.gpus(), c.ranks, monitor_);
  if (result.measurement.correct()) return;
  result.status = Status::failed;
  result.reason = describe(result.measurement.check, c.dtype);
}

/// Untimed: what ran is known afterwards, and connections that NCCL makes at the first use are made.
void NcclBackend::try_out(Running& running, CaseResult& result, const NcclName& name) {
  const TuningLog log(process_.nccl());
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
