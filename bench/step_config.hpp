/// What was asked of a bucket sweep.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/step_backend.hpp"

namespace collmark {

struct StepConfig {
  std::string backend = "threads";
  std::vector<std::shared_ptr<const ModelList>> models = {};
  std::vector<const BucketPolicy*> policies = {};
  std::vector<Bytes> caps = {};  // none: each policy's default
  std::vector<int> split_after = {};
  std::vector<std::string> algorithms = {"ring"};
  std::vector<int> ranks = {2};
  Dtype dtype = Dtype::f32;
  int launches = 1;
  std::vector<GpuTuning> tunings = {GpuTuning{}};  // of cuda: every combination of its knobs
  MeasureOptions measure = {};
  std::uint64_t seed = 1;
};

/// What two runs must have in common for the rows of one to continue the other's.
[[nodiscard]] nlohmann::json to_json(const StepConfig& config);

/// One step to measure, in one launch.
struct PlannedStep {
  int seq = 0;
  int launch = 0;
  StepCase c;
};

/// Every combination once, in the order of the request. A policy without a cap to set is there once,
/// not once per cap. Throws Error{usage} for a cap or split index that no policy could follow, and
/// for an unknown algorithm.
[[nodiscard]] std::vector<StepCase> step_cases(const StepConfig& config);

/// All cases, launch after launch, each in an order of its own that the seed decides.
[[nodiscard]] std::vector<PlannedStep> plan_steps(const StepConfig& config);

/// What of the request has no effect, in sentences: caps on policies that have none.
[[nodiscard]] std::vector<std::string> remarks(const StepConfig& config);

}  // namespace collmark
