#include "bench/cuda_backend.hpp"

#include <utility>

#include "bench/cuda_names.hpp"
#include "bench/device_operation.hpp"
#include "bench/gpu_case.hpp"
#include "bench/proof.hpp"
#include "bench/solo_team.hpp"
#include "bench/variant.hpp"
#include "bench/watch_kernels.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/partition.hpp"
#include "kernels/launch.hpp"

namespace collmark {

CudaBackend::CudaBackend(const BackendOptions& options) : options_(options) {
  try {
    gpus_ = std::make_unique<Gpus>();
  } catch (const Error& e) {
    availability_ = {.here = false, .reason = e.what()};
  }
}

CudaBackend::~CudaBackend() = default;

/// Buffers, and as much again for what a kernel may copy aside; what links need is small.
Bytes CudaBackend::memory_needed(const Case& c) const {
  if (!gpus_) return {};
  const std::int64_t on_one = (c.ranks + gpus_->size() - 1) / gpus_->size();
  const std::int64_t copies = on_one * (c.placement == Placement::in_place ? 2 : 3);
  return copies_of(c.size(), copies);
}

Bytes CudaBackend::memory_available() const {
  return gpus_ ? gpus_->free_memory(gpus_->size()) : Bytes{};
}

std::vector<std::string> CudaBackend::devices() const {
  return gpus_ ? describe(*gpus_, ranks_) : std::vector<std::string>{};
}

CaseResult CudaBackend::run(const Case& c) {
  if (!gpus_)
    return {.status = Status::skipped, .reason = availability_.reason, .algorithm = c.algorithm};
  CaseResult result{.implementation = implementation((*gpus_)[0]), .algorithm = c.algorithm};
  measure_or_skip(result, [&] { measure_into(result, c); });
  return result;
}

/// A collective on the GPUs, and what times and checks it.
struct CudaBackend::Running {
  Running(Gpus& gpus, const KernelTask& task, const GpuTuning& tuning)
      : collective(gpus, task, tuning) {}
  [[nodiscard]] DeviceWork* work() { return operation ? &*operation : nullptr; }
  GpuCollective collective;
  std::optional<DeviceOperation> operation;
};

void CudaBackend::measure_into(CaseResult& result, const Case& c) {
  ranks_.insert(c.ranks);
  const KernelTask task = kernel_task(c);
  const TestHooks hooks = test_hooks_from_environment();
  const HostPatience patience{.timeout = options_.timeout, .interrupted = &interrupted_};
  auto owned = std::make_unique<Running>(*gpus_, task, c.tuning);
  Running& running = *owned;
  running.collective.set_longest_wait(patience.longest_wait());
  if (hooks.absent_rank) running.collective.leave_out(*hooks.absent_rank);
  watch_kernels(std::move(owned), gpus_, patience.longer().timeout, [&] {
    running.operation.emplace(running.collective,
                              DeviceOperation::What{.payload = task.payload,
                                                    .placement = c.placement,
                                                    .patience = patience.longer(),
                                                    .evicts = c.measure.cache == CacheState::cold,
                                                    .hooks = hooks});
    measure_with(running, result, c);
  });
}

void CudaBackend::measure_with(Running& running, CaseResult& result, const Case& c) {
  GpuCollective& collective = running.collective;
  const Schedule& schedule = collective.shape();
  result.rounds = schedule.steps;
  result.chunk = Bytes{Partition(schedule, c.count).largest().value *
                       static_cast<std::int64_t>(size_of(c.dtype))};
  result.device = (*gpus_)[0].facts().name;
  result.devices = collective.devices();
  result.tuning = collective.tuning();
  if (result.reason = disproof(c.algorithm, schedule); !result.reason.empty()) {
    result.status = Status::failed;
    return;
  }
  if (split_variant(c.algorithm).launching == Launching::graph) {
    running.operation->capture();
    running.operation->settle();
  }
  SoloTeam all_ranks;
  result.gpu_before = condition_of(*gpus_, collective.devices(), monitor_);
  result.measurement = measure(all_ranks, *running.operation, c.measure);
  result.gpu_after = condition_of(*gpus_, collective.devices(), monitor_);
  result.wire_busiest = count_busiest(running);
  if (!result.measurement.correct()) {
    result.status = Status::failed;
    result.reason = describe(result.measurement.check, c.dtype);
  }
}

/// Runs once more, untimed. Empty if the driver does not let kernels be told to count.
std::optional<Bytes> CudaBackend::count_busiest(Running& running) {
  running.operation->rewrite_input();
  if (!running.collective.run_counted()) return std::nullopt;
  running.operation->settle();
  return running.collective.busiest();
}

}  // namespace collmark
