#include "bench/step_backend.hpp"

#include <utility>

#include "bench/cuda_step_backend.hpp"
#include "bench/library_name.hpp"
#include "bench/nccl_step_backend.hpp"
#include "bench/threads_step_backend.hpp"
#include "bench/variant.hpp"
#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

Schedule schedule_of(const StepCase& c) {
  if (is_library(c.algorithm))
    return {.ranks = c.ranks(), .chunks = c.ranks(), .collective = Collective::all_reduce};
  return build(Collective::all_reduce, split_variant(c.algorithm).algorithm, c.ranks());
}

}  // namespace

const std::vector<std::string>& step_backend_names() {
  static const std::vector<std::string> names{"threads", "cuda", "nccl"};
  return names;
}

std::unique_ptr<StepBackend> make_step_backend(std::string_view name,
                                               const BackendOptions& options) {
  if (name == "cuda") return std::make_unique<CudaStepBackend>(options);
  if (name == "nccl") return std::make_unique<NcclStepBackend>(options);
  return std::make_unique<ThreadsStepBackend>(options);
}

Bytes memory_of_step(const StepCase& c, int ranks) {
  const auto buckets = plan_buckets(*c.policy, c.model->tensors, c.config);
  const StepLayout layout = lay_out(c.model->tensors, buckets, c.policy->staging);
  const Bytes per_rank = layout.gradient_bytes() * 2 + layout.buffer_bytes();
  return copies_of(per_rank, ranks);
}

StepWork work_of(const StepCase& c) {
  auto buckets = plan_buckets(*c.policy, c.model->tensors, c.config);
  auto layout = lay_out(c.model->tensors, buckets, c.policy->staging);
  return {.tensors = c.model->tensors,
          .buckets = std::move(buckets),
          .mean = c.policy->mean,
          .layout = std::move(layout),
          .schedule = schedule_of(c)};
}

void add_plan(StepResult& result, const StepWork& work) {
  for (const Bucket& bucket : work.buckets) result.buckets.push_back({.bucket = bucket});
  result.gradients = work.layout.gradient_bytes();
  result.buffers = work.layout.buffer_bytes();
  if (is_library(result.base.algorithm)) return;
  result.base.rounds = work.schedule.steps * static_cast<int>(work.buckets.size());
  result.base.chunk = largest_chunk(work);
}

void add_phases(StepResult& result, const MedianPhases& phases) {
  result.phases = phases.step;
  result.tail = phases.tail;
  for (std::size_t b = 0; b < phases.of_bucket.size(); ++b)
    result.buckets[b].phases = phases.of_bucket[b];
}

}  // namespace collmark
