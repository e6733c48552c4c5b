#include "bench/step_run.hpp"

#include <utility>

#include "collectives/error.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

StepResult without_measurement(const PlannedStep& planned, Status status, std::string reason) {
  return {.base = {.status = status,
                   .reason = std::move(reason),
                   .implementation = "collmark",
                   .algorithm = planned.c.algorithm}};
}

}  // namespace

StepResult StepRun::result_of(const PlannedStep& planned) {
  std::string obstacle =
      memory_obstacle(StepBackend::memory_needed(planned.c), {this_host().memory_available});
  if (!obstacle.empty()) return without_measurement(planned, Status::skipped, std::move(obstacle));
  try {
    return backend_.run(planned.c);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::timed_out && e.kind() != ErrorKind::lost) throw;
    report(planned, without_measurement(planned, Status::failed, failure(e)));
    throw;
  }
}

void StepRun::report(const PlannedStep& planned, StepResult result) {
  tally_.add(result.base.status, result.base.reason);
  Record base{.run_id = identity_.run_id,
              .launch = planned.launch,
              .seq = planned.seq,
              .time_utc = utc_now(),
              .machine = identity_.machine,
              .backend = "threads",
              .c = {},
              .result = {}};
  observer_.finished(step_record(std::move(base), planned.c, std::move(result)));
}

void StepRun::run(std::span<const PlannedStep> plan, const std::function<bool()>& stopped) {
  for (const PlannedStep& planned : plan) {
    if (stopped()) throw Error(ErrorKind::interrupted, "interrupted");
    observer_.starting(planned);
    report(planned, result_of(planned));
  }
}

}  // namespace collmark
