#include "bench/cuda_step_backend.hpp"

#include <optional>
#include <utility>

#include "bench/cuda_names.hpp"
#include "bench/device_step.hpp"
#include "bench/device_step_result.hpp"
#include "bench/proof.hpp"
#include "bench/variant.hpp"
#include "bench/watch_kernels.hpp"
#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

RankSpread spread_of(const StepCase& c, const Gpus& gpus) {
  return {.ranks = c.ranks(), .gpus = gpus.size()};
}

/// Once more, bucket after bucket and untimed. Nothing if the driver does not let kernels be told to count.
void count_traffic(StepResult& result, const std::vector<GpuCollective*>& all_reduces,
                   DeviceStep& step) {
  Bytes sum{};
  for (std::size_t b = 0; b < all_reduces.size(); ++b) {
    if (!all_reduces[b]->run_counted()) return;
    step.settle();
    result.buckets[b].sent = all_reduces[b]->sent();
    result.buckets[b].busiest = all_reduces[b]->busiest();
    sum += *result.buckets[b].busiest;
  }
  result.base.wire_busiest = sum;
}

}  // namespace

CudaStepBackend::CudaStepBackend(const BackendOptions& options) : options_(options) {
  try {
    gpus_ = std::make_unique<Gpus>();
  } catch (const Error& e) {
    availability_ = {.here = false, .reason = e.what()};
  }
}

std::vector<std::string> CudaStepBackend::devices() const {
  return gpus_ ? describe(*gpus_, ranks_) : std::vector<std::string>{};
}

/// Of the device with the most ranks.
std::string CudaStepBackend::obstacle(const StepCase& c) const {
  if (!gpus_) return "";
  const RankSpread spread = spread_of(c, *gpus_);
  return memory_obstacle(memory_of_step(c, spread.each()), gpus_->free_memory(spread.devices()));
}

StepResult CudaStepBackend::run(const StepCase& c) {
  StepResult result{.base = {.algorithm = c.algorithm}};
  measure_or_skip(result.base, [&] {
    if (!gpus_) throw Unsupported(availability_.reason);
    result.base.implementation = implementation((*gpus_)[0]);
    if (split_variant(c.algorithm).launching == Launching::graph)
      throw Unsupported("a step is launched kernel by kernel, not as a graph");
    StepWork work = work_of(c);
    result.base.reason = disproof(c.algorithm, work.schedule);
    if (result.base.reason.empty())
      measure_into(result, c, std::move(work));
    else
      result.base.status = Status::failed;
  });
  return result;
}

/// A step on the GPUs, and what times and checks it.
struct CudaStepBackend::Running {
  [[nodiscard]] DeviceWork* work() { return step ? &*step : nullptr; }
  std::vector<GpuMemory> given_up;          // [device], of all buckets
  std::vector<GpuCollective*> all_reduces;  // [bucket], the job's
  std::optional<DeviceStepJob> job;
  std::optional<DeviceStep> step;
};

void CudaStepBackend::measure_into(StepResult& result, const StepCase& c, StepWork work) {
  add_plan(result, work);
  ranks_.insert(c.ranks());
  const TestHooks hooks = test_hooks_from_environment();
  const HostPatience patience{.timeout = options_.timeout, .interrupted = &interrupted_};
  auto owned = std::make_unique<Running>();
  Running& running = *owned;
  const auto make = [&](const Bucket& bucket, GpuPlace place) {
    while (running.given_up.size() < place.streams.size())
      running.given_up.push_back(word_of_giving_up(*place.streams[running.given_up.size()]));
    for (const GpuMemory& word : running.given_up) place.given_up.push_back(word.data());
    const KernelTask task{.name = kernel_name(c.algorithm),
                          .ranks = c.ranks(),
                          .payload = {.count = bucket.count, .dtype = bucket.dtype},
                          .placement = Placement::in_place};
    auto all_reduce = std::make_unique<GpuCollective>(*gpus_, task, c.tuning, std::move(place));
    all_reduce->set_longest_wait(patience.longest_wait());
    if (hooks.absent_rank) all_reduce->leave_out(*hooks.absent_rank);
    running.all_reduces.push_back(all_reduce.get());
    return all_reduce;
  };
  running.job.emplace(*gpus_, std::move(work), make);
  watch_kernels(std::move(owned), gpus_, patience.longer().timeout, [&] {
    running.step.emplace(*running.job,
                         DeviceStep::Options{.patience = patience.longer(), .hooks = hooks});
    measure_with(running, result, c);
  });
}

void CudaStepBackend::measure_with(Running& running, StepResult& result, const StepCase& c) {
  const std::size_t largest = running.job->work().largest_bucket();
  result.base.tuning = running.all_reduces[largest]->tuning();
  result.base.device = (*gpus_)[0].facts().name;
  Bytes scratch{};
  for (const GpuCollective* all_reduce : running.all_reduces)
    scratch += Bytes{static_cast<std::int64_t>(all_reduce->job().piece_size())} * c.ranks();
  result.scratch = scratch;
  measure_step(result, *running.job, *running.step, c.measure);
  count_traffic(result, running.all_reduces, *running.step);
}

}  // namespace collmark
