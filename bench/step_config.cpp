#include "bench/step_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <utility>

#include "bench/gpu_knobs.hpp"
#include "bench/library_name.hpp"
#include "bench/nccl_name.hpp"
#include "bench/shuffle.hpp"
#include "bench/sweep_config.hpp"
#include "bench/variant.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

/// The caps that a policy is measured at: empty stands for its default, or for none at all.
std::vector<std::optional<Bytes>> caps_of(const BucketPolicy& policy, const StepConfig& config) {
  if (policy.unit == CapUnit::none || config.caps.empty()) return {std::nullopt};
  return {config.caps.begin(), config.caps.end()};
}

bool follows_splits(const BucketPolicy& policy) { return policy.name == "mindspore_index"; }

void require_known_to_backend(const std::string& algorithm, const StepConfig& config) {
  if (config.backend == "nccl" && is_library(algorithm))
    (void)parse_nccl_name(algorithm);
  else
    require_known(Collective::all_reduce, split_variant(algorithm).algorithm, config.ranks.front());
}

bool any_follows_splits(const StepConfig& config) {
  return std::any_of(config.policies.begin(), config.policies.end(),
                     [](const BucketPolicy* policy) { return follows_splits(*policy); });
}

}  // namespace

nlohmann::json to_json(const StepConfig& config) {
  nlohmann::json json{{"ranks", config.ranks},
                      {"algorithm", config.algorithms},
                      {"split_indices", config.split_after},
                      {"dtype", name(config.dtype)},
                      {"launches", config.launches},
                      {"iterations", config.measure.most_iterations},
                      {"time_budget", config.measure.time_budget.count()},
                      {"seed", config.seed}};
  json["warmups"] =
      config.measure.warmups ? nlohmann::json(*config.measure.warmups) : "until stable";
  if (config.backend != "threads") json["backend"] = config.backend;  // files of before have none
  add_knobs(json, config.tunings);
  for (const auto& model : config.models)
    json["model"].push_back({{"name", model->name},
                             {"tensors", model->tensors.size()},
                             {"bytes", bytes_of(model->tensors).value}});
  for (const BucketPolicy* policy : config.policies) json["bucket_policy"].push_back(policy->name);
  json["bucket_bytes"] = nlohmann::json::array();
  for (const Bytes cap : config.caps) json["bucket_bytes"].push_back(cap.value);
  return json;
}

std::vector<StepCase> step_cases(const StepConfig& config) {
  const std::vector<GpuTuning> tunings = tunings_on(config.backend, config.tunings);
  double most = static_cast<double>(config.launches);
  for (const std::size_t choices :
       {config.models.size(), config.policies.size(), std::max<std::size_t>(1, config.caps.size()),
        config.ranks.size(), config.algorithms.size(), tunings.size()})
    most *= static_cast<double>(choices);
  require_plannable(most);
  for (const std::string& algorithm : config.algorithms)
    require_known_to_backend(algorithm, config);
  if (!config.split_after.empty() && !any_follows_splits(config))
    throw Error(ErrorKind::usage,
                "--split-indices: only the bucket policy mindspore_index follows them");
  std::vector<StepCase> cases;
  for (const auto& model : config.models)
    for (const BucketPolicy* policy : config.policies)
      for (const std::optional<Bytes> cap : caps_of(*policy, config))
        for (const int ranks : config.ranks) {
          BucketConfig bucket{.cap = cap, .ranks = ranks};
          if (follows_splits(*policy)) bucket.split_after = config.split_after;
          (void)plan_buckets(*policy, model->tensors, bucket);  // refuses what cannot be planned
          for (const std::string& algorithm : config.algorithms)
            for (const GpuTuning& tuning : tunings)
              cases.push_back({.model = model,
                               .policy = policy,
                               .config = bucket,
                               .algorithm = algorithm,
                               .dtype = config.dtype,
                               .measure = config.measure,
                               .tuning = tuning});
        }
  return cases;
}

std::vector<PlannedStep> plan_steps(const StepConfig& config) {
  std::vector<StepCase> once = step_cases(config);
  std::mt19937_64 random(config.seed);
  std::vector<PlannedStep> plan;
  for (int launch = 0; launch < config.launches; ++launch) {
    shuffle(once, random);
    for (const StepCase& c : once)
      plan.push_back({.seq = static_cast<int>(plan.size()), .launch = launch, .c = c});
  }
  return plan;
}

std::vector<std::string> remarks(const StepConfig& config) {
  std::vector<std::string> sentences;
  for (const BucketPolicy* policy : config.policies)
    if (!config.caps.empty() && policy->unit == CapUnit::none)
      sentences.push_back(policy->standard == nullptr
                              ? fmt::format("{} has no cap: measured once.", policy->name)
                              : fmt::format("{} has a fixed cap: measured once.", policy->name));
  if (config.split_after.empty() && any_follows_splits(config))
    sentences.emplace_back("mindspore_index without --split-indices is one bucket.");
  return sentences;
}

}  // namespace collmark
