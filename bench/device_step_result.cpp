#include "bench/device_step_result.hpp"

#include "bench/solo_team.hpp"

namespace collmark {

void measure_step(StepResult& result, const DeviceStepJob& job, DeviceStep& step,
                  const MeasureOptions& how) {
  result.base.devices = job.devices();
  SoloTeam all_ranks;
  result.base.measurement = measure(all_ranks, step, how);
  if (!result.base.measurement.correct()) {
    result.base.status = Status::failed;
    result.base.reason = describe(job.work(), result.base.measurement.check);
  }
  // One run verifies, then come the warm-ups, then what was timed.
  const StepTimes times{.by_rank = {step.times()},
                        .buckets = result.buckets.size(),
                        .first = 1 + static_cast<std::size_t>(result.base.measurement.warmups)};
  add_phases(result, phases_of(result.base.measurement, times));
}

}  // namespace collmark
