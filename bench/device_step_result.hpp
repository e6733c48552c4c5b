/// What a step on devices comes to, whoever all-reduces its buckets.
#pragma once

#include "bench/device_step.hpp"
#include "bench/step_backend.hpp"

namespace collmark {

/// Measures the step and checks every gradient, into a result that has its plan already.
void measure_step(StepResult& result, const DeviceStepJob& job, DeviceStep& step,
                  const MeasureOptions& how);

}  // namespace collmark
