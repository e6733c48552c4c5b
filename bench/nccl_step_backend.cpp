#include "bench/nccl_step_backend.hpp"

#include <optional>
#include <utility>

#include "bench/device_step.hpp"
#include "bench/device_step_result.hpp"
#include "bench/nccl_case.hpp"
#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

/// As a sweep would ask for one bucket; its payload is still to be filled in.
NcclCaseTask task_of(const StepCase& c) {
  NcclCaseTask asked = nccl_case_task({.algorithm = c.algorithm,
                                       .ranks = c.ranks(),
                                       .count = {0},
                                       .dtype = c.dtype,
                                       .placement = Placement::in_place});
  if (asked.name.replayed)
    throw Unsupported("a step is launched operation by operation, not as a graph");
  if (asked.name.buffers == NcclBuffers::registered)
    throw Unsupported("a step's buckets lie in memory that is not NCCL's: none is registered");
  return asked;
}

}  // namespace

/// A step whose buckets NCCL reduces, and what times and checks it.
struct NcclStepBackend::Running : NcclRunning {
  using NcclRunning::NcclRunning;
  [[nodiscard]] DeviceWork* work() override { return step ? &*step : nullptr; }
  std::optional<DeviceStepJob> job;
  std::optional<DeviceStep> step;
};

/// A rank on each GPU.
std::string NcclStepBackend::obstacle(const StepCase& c) const {
  return memory_obstacle(memory_of_step(c, 1), process_.free_memory(c.ranks()));
}

StepResult NcclStepBackend::run(const StepCase& c) {
  StepResult result{.base = {.algorithm = c.algorithm}};
  measure_or_skip(result.base, [&] {
    if (!availability().here) throw Unsupported(availability().reason);
    result.base.implementation = process_.nccl().name();
    measure_into(result, c);
  });
  return result;
}

void NcclStepBackend::measure_into(StepResult& result, const StepCase& c) {
  const NcclCaseTask asked = task_of(c);
  StepWork work = work_of(c);
  add_plan(result, work);
  const NcclGroups::Wanted wanted = asked.group(c.ranks());
  auto owned = std::make_unique<Running>(process_.group(wanted));
  Running& running = *owned;
  process_.watch(std::move(owned), wanted, "all_reduce of a step", [&] {
    prepare(running, asked, std::move(work));
    try_out(running, result, asked);
    result.base.device = process_.gpus()[0].facts().name;
    measure_step(result, *running.job, *running.step, c.measure);
  });
}

void NcclStepBackend::prepare(Running& running, const NcclCaseTask& asked, StepWork work) {
  const auto make = [&](const Bucket& bucket, const GpuPlace& place) {
    NcclTask task = asked.task;
    task.payload = {.count = bucket.count, .dtype = bucket.dtype};
    return std::make_unique<NcclCollective>(running.group, task, place);
  };
  running.job.emplace(process_.gpus(), std::move(work), make);
  running.step.emplace(*running.job, DeviceStep::Options{.patience = process_.patience(),
                                                         .hooks = test_hooks_from_environment()});
}

/// Untimed, bucket after bucket: what ran is known afterwards, and connections that NCCL makes at the first use are made.
void NcclStepBackend::try_out(Running& running, StepResult& result, const NcclCaseTask& asked) {
  const StepWork& work = running.job->work();
  std::vector<std::optional<TuningLog::Ran>> ran;
  for (std::size_t b = 0; b < work.buckets.size(); ++b) {
    const TuningLog log(process_.nccl());
    run_forced(running.job->all_reduce(b), asked.name.choice);
    running.step->settle();
    ran.push_back(log.ran());
  }
  note_what_ran(result.base, ran, work.largest_bucket(), asked.name.choice);
}

}  // namespace collmark
