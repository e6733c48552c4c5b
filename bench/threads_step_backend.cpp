#include "bench/threads_step_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/core_link.hpp"
#include "bench/page_report.hpp"
#include "bench/proof.hpp"
#include "bench/test_hooks.hpp"
#include "bench/variant.hpp"
#include "collectives/catalogue.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

/// What the threads of one case share. They own it together: a thread that hangs may outlive it.
struct SharedStep {
  SharedStep(std::shared_ptr<ThreadLaunch> on, StepWork work, const MeasureOptions& measure_options)
      : launch(std::move(on)),
        job(launch->team(), std::move(work)),
        options(measure_options),
        times(static_cast<std::size_t>(launch->team().ranks())) {}
  std::shared_ptr<ThreadLaunch> launch;
  StepJob job;
  MeasureOptions options;
  TestHooks hooks = test_hooks_from_environment();
  Measurement measurement;                      // written by rank 0
  std::vector<std::vector<BucketTimes>> times;  // each rank writes its own
};

void run_rank(SharedStep& shared, int rank) {
  ThreadMember member(*shared.launch, rank);
  auto step = std::make_unique<StepOperation>(shared.job, rank);
  const StepOperation& recorder = *step;
  const Bucket& first = shared.job.work().buckets.front();
  const std::unique_ptr<Operation> operation =
      with_faults(std::move(step), shared.hooks, rank,
                  {shared.job.gradient(rank, first.pieces.front()),
                   {static_cast<std::int64_t>(size_of(first.dtype))}});
  try {
    Measurement measurement = measure(member, *operation, shared.options);
    if (rank == 0) shared.measurement = std::move(measurement);
    shared.times[static_cast<std::size_t>(rank)] = recorder.times();
  } catch (const RankLeft&) {
  }
}

void count_traffic(StepResult& result, StepJob& job, int ranks) {
  Bytes busiest{};
  int messages = 0;
  for (std::size_t b = 0; b < result.buckets.size(); ++b) {
    Bytes sent{}, most{};
    int most_messages = 0;
    for (int r = 0; r < ranks; ++r) {
      const Moved moved = job.executor(b).moved(r);
      sent += moved.sent;
      most = std::max({most, moved.sent, moved.received});
      most_messages = std::max(most_messages, moved.messages);
    }
    result.buckets[b].sent = sent;
    result.buckets[b].busiest = most;
    result.buckets[b].messages = most_messages;
    busiest += most;
    messages += most_messages;
  }
  result.base.wire_busiest = busiest;
  result.base.messages_busiest = messages;
}

}  // namespace

ThreadsStepBackend::ThreadsStepBackend(const BackendOptions& options)
    : options_(options), cores_(this_host().cores) {}

std::string ThreadsStepBackend::obstacle(const StepCase& c) const {
  return memory_obstacle(memory_of_step(c, c.ranks()), {this_host().memory_available});
}

StepResult ThreadsStepBackend::run(const StepCase& c) {
  StepResult result{.base = {.implementation = "collmark", .algorithm = c.algorithm}};
  measure_or_skip(result.base, [&] {
    require_team(c.ranks());
    if (const AlgorithmVariant asked = split_variant(c.algorithm);
        asked.variant != Variant::plain || asked.launching != Launching::each)
      throw Unsupported(fmt::format("{}: threads know one way to move data", c.algorithm));
    StepWork work = work_of(c);
    result.base.reason = disproof(c.algorithm, work.schedule);
    if (result.base.reason.empty())
      measure_into(result, c, std::move(work));
    else
      result.base.status = Status::failed;
  });
  return result;
}

void ThreadsStepBackend::measure_into(StepResult& result, const StepCase& c, StepWork work) {
  add_plan(result, work);

  const auto launch =
      std::make_shared<ThreadLaunch>(c.ranks(), TeamOptions{.timeout = options_.timeout});
  result.base.oversubscribed = launch->team().oversubscribed();
  const auto shared = std::make_shared<SharedStep>(launch, std::move(work), c.measure);
  result.scratch = shared->job.scratch();

  result.base.flag_ns = in_ns(flag_time_between_ranks(cores_));
  running_.run(launch, [shared](int rank) { run_rank(*shared, rank); });
  result.base.flag_after_ns = in_ns(flag_time_between_ranks(cores_));

  result.base.measurement = std::move(shared->measurement);
  result.base.pages = pages_under(shared->job.all_buffers());
  count_traffic(result, shared->job, c.ranks());
  if (!result.base.measurement.correct()) {
    result.base.status = Status::failed;
    result.base.reason = describe(shared->job.work(), result.base.measurement.check);
  }
  // One run verifies, then come the warm-ups, then what was timed.
  const StepTimes times{.by_rank = std::move(shared->times),
                        .buckets = result.buckets.size(),
                        .first = 1 + static_cast<std::size_t>(result.base.measurement.warmups)};
  add_phases(result, phases_of(result.base.measurement, times));
}

void ThreadsStepBackend::interrupt() noexcept { running_.interrupt(); }

}  // namespace collmark
