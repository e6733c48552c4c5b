#include "bench/step_run.hpp"

#include <algorithm>
#include <utility>

#include "collectives/error.hpp"

namespace collmark {
namespace {

StepResult without_measurement(const PlannedStep& planned, Status status, std::string reason) {
  return {
      .base = {.status = status, .reason = std::move(reason), .algorithm = planned.c.algorithm}};
}

}  // namespace

StepResult StepRun::result_of(const PlannedStep& planned) {
  const Availability availability = backend_.availability();
  std::string obstacle =
      availability.here ? backend_.obstacle(planned.c) : std::string(availability.reason);
  if (!obstacle.empty()) return without_measurement(planned, Status::skipped, std::move(obstacle));
  try {
    return backend_.run(planned.c);
  } catch (const std::exception& e) {
    if (const auto end = end_of_case(e))
      report(planned, without_measurement(planned, end->status, end->reason));
    throw;
  }
}

void StepRun::report(const PlannedStep& planned, StepResult result) {
  tally_.add(result.base.status, result.base.reason);
  if (!backend_.availability().here) ++tally_.absent;
  Record base{.run_id = identity_.run_id,
              .launch = planned.launch,
              .seq = planned.seq,
              .time_utc = utc_now(),
              .machine = identity_.machine,
              .backend = std::string(backend_.name()),
              .c = {},
              .result = {}};
  observer_.finished(step_record(std::move(base), planned.c, std::move(result)));
}

/// `rest` begins with the first step of the launch.
void StepRun::begin_launch(std::span<const PlannedStep> rest) {
  int most = 0;
  for (const PlannedStep& planned : rest) {
    if (planned.launch != rest.front().launch) break;
    most = std::max(most, planned.c.ranks());
  }
  backend_.begin_launch(most);
}

void StepRun::run(std::span<const PlannedStep> plan, const std::function<bool()>& stopped) {
  int launch = -1;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const PlannedStep& planned = plan[i];
    if (stopped()) throw Error(ErrorKind::interrupted, "interrupted");
    if (planned.launch != launch) begin_launch(plan.subspan(i));
    launch = planned.launch;
    observer_.starting(planned);
    report(planned, result_of(planned));
  }
}

}  // namespace collmark
