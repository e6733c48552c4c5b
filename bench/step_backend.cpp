#include "bench/step_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "bench/core_link.hpp"
#include "bench/page_report.hpp"
#include "bench/proof.hpp"
#include "bench/test_hooks.hpp"
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
    BucketResult& bucket = result.buckets[b];
    for (int r = 0; r < ranks; ++r) {
      const Moved moved = job.executor(b).moved(r);
      bucket.sent += moved.sent;
      bucket.busiest = std::max({bucket.busiest, moved.sent, moved.received});
      bucket.messages = std::max(bucket.messages, moved.messages);
    }
    busiest += bucket.busiest;
    messages += bucket.messages;
  }
  result.base.wire_busiest = busiest;
  result.base.messages_busiest = messages;
}

Bytes largest_chunk(const StepWork& work) {
  Bytes largest{};
  for (const Bucket& bucket : work.buckets) {
    const Elements chunk = Partition(work.schedule, bucket.count).largest();
    largest =
        std::max(largest, Bytes{chunk.value * static_cast<std::int64_t>(size_of(bucket.dtype))});
  }
  return largest;
}

std::string describe(const StepJob& job, const Check& check) {
  const WrongElement& e = check.first;
  return fmt::format("wrong result: rank {}, {}: got {}, expected {} ({} wrong in all)", e.rank,
                     job.place_of(e), e.got, e.expected, check.wrong);
}

std::optional<double> in_ns(const std::optional<Seconds>& time) {
  return time ? std::optional(time->count() * 1e9) : std::nullopt;
}

/// The rank that took longest, in each reading.
std::vector<std::size_t> slowest_ranks(const Measurement& m) {
  std::vector<std::size_t> slowest;
  const auto ranks = static_cast<std::ptrdiff_t>(m.ranks);
  for (auto at = m.samples.begin(); at != m.samples.end(); at += ranks) {
    const auto longest = std::max_element(
        at, at + ranks, [](const Sample& a, const Sample& b) { return a.time < b.time; });
    slowest.push_back(static_cast<std::size_t>(longest - at));
  }
  return slowest;
}

/// The median over readings of one number of each.
template <class Of>
Seconds median_over(const std::vector<std::size_t>& slowest, Of of) {
  std::vector<double> values;
  for (std::size_t i = 0; i < slowest.size(); ++i)
    values.push_back(Seconds(of(slowest[i], i)).count());
  return Seconds{median(std::move(values))};
}

}  // namespace

StepWork work_of(const StepCase& c) {
  auto buckets = plan_buckets(*c.policy, c.model->tensors, c.config);
  auto layout = lay_out(c.model->tensors, buckets, c.policy->staging);
  return {.tensors = c.model->tensors,
          .buckets = std::move(buckets),
          .mean = c.policy->mean,
          .layout = std::move(layout),
          .schedule = build(Collective::all_reduce, c.algorithm, c.ranks())};
}

void add_phases(StepResult& result, const StepTimes& times) {
  const std::vector<std::size_t> slowest = slowest_ranks(result.base.measurement);
  if (slowest.empty()) return;
  const auto sum_of = [&](Nanoseconds BucketTimes::*phase) {
    return median_over(slowest, [&](std::size_t rank, std::size_t i) {
      Nanoseconds sum{};
      for (std::size_t b = 0; b < times.buckets; ++b) sum += times.of(rank, i, b).*phase;
      return sum;
    });
  };
  result.phases = {sum_of(&BucketTimes::pack), sum_of(&BucketTimes::wire),
                   sum_of(&BucketTimes::unpack)};
  for (std::size_t b = 0; b < times.buckets; ++b) {
    const auto of_bucket = [&](Nanoseconds BucketTimes::*phase) {
      return median_over(
          slowest, [&](std::size_t rank, std::size_t i) { return times.of(rank, i, b).*phase; });
    };
    result.buckets[b].phases = {of_bucket(&BucketTimes::pack), of_bucket(&BucketTimes::wire),
                                of_bucket(&BucketTimes::unpack)};
  }
  result.tail = median_over(slowest, [&](std::size_t rank, std::size_t i) {
    return times.of(rank, i, times.buckets - 1).all();
  });
}

StepBackend::StepBackend(const BackendOptions& options)
    : options_(options), cores_(this_host().cores) {}

Bytes StepBackend::memory_needed(const StepCase& c) {
  const auto buckets = plan_buckets(*c.policy, c.model->tensors, c.config);
  const StepLayout layout = lay_out(c.model->tensors, buckets, c.policy->staging);
  const Bytes per_rank = layout.gradient_bytes() * 2 + layout.buffer_bytes();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return per_rank.value > kMost / c.ranks() ? Bytes{kMost} : per_rank * c.ranks();
}

StepResult StepBackend::run(const StepCase& c) {
  StepResult result{.base = {.implementation = "collmark", .algorithm = c.algorithm}};
  try {
    require_team(c.ranks());
    StepWork work = work_of(c);
    result.base.reason = disproof(c.algorithm, work.schedule);
    if (result.base.reason.empty())
      measure_into(result, c, std::move(work));
    else
      result.base.status = Status::failed;
  } catch (const Unsupported& e) {
    result.base.status = Status::skipped;
    result.base.reason = e.what();
  } catch (const std::bad_alloc&) {
    result.base.status = Status::skipped;
    result.base.reason = "out of memory";
  }
  return result;
}

void StepBackend::measure_into(StepResult& result, const StepCase& c, StepWork work) {
  for (const Bucket& bucket : work.buckets) result.buckets.push_back({.bucket = bucket});
  result.gradients = work.layout.gradient_bytes();
  result.buffers = work.layout.buffer_bytes();
  result.base.rounds = work.schedule.steps * static_cast<int>(work.buckets.size());
  result.base.chunk = largest_chunk(work);

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
    result.base.reason = describe(shared->job, result.base.measurement.check);
  }
  // One run verifies, then come the warm-ups, then what was timed.
  add_phases(result, {.by_rank = std::move(shared->times),
                      .buckets = result.buckets.size(),
                      .first = 1 + static_cast<std::size_t>(result.base.measurement.warmups)});
}

void StepBackend::interrupt() noexcept { running_.interrupt(); }

}  // namespace collmark
