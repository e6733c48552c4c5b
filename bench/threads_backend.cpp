#include "bench/threads_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "bench/core_link.hpp"
#include "bench/library_name.hpp"
#include "bench/page_report.hpp"
#include "bench/proof.hpp"
#include "bench/test_hooks.hpp"
#include "bench/thread_operation.hpp"
#include "bench/variant.hpp"
#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

/// What the threads of one case share. They own it together: a thread that hangs may outlive the
/// case.
struct SharedCase {
  SharedCase(std::shared_ptr<ThreadLaunch> on, const Case& c, const Schedule& schedule, Bytes walk)
      : launch(std::move(on)),
        collective(launch->team(), schedule, {c.count, c.dtype, c.op}, c.placement),
        to_walk(walk),
        options(c.measure),
        output_size(c.size()) {
    if (walk.value > 0) std::memset(to_walk.data(), 1, static_cast<std::size_t>(walk.value));
  }
  std::shared_ptr<ThreadLaunch> launch;
  PreparedCollective collective;
  PageBuffer to_walk;
  MeasureOptions options;
  Bytes output_size;
  TestHooks hooks = test_hooks_from_environment();
  Measurement measurement;  // written by rank 0
};

void run_rank(SharedCase& shared, int rank) {
  ThreadMember member(*shared.launch, rank);
  shared.collective.first_touch(rank);
  const std::span<const std::byte> walk(shared.to_walk.data(),
                                        static_cast<std::size_t>(shared.to_walk.size().value));
  const std::unique_ptr<Operation> operation =
      with_faults(std::make_unique<ThreadOperation>(shared.collective, rank, walk), shared.hooks,
                  rank, {shared.collective.output(rank), shared.output_size});
  try {
    Measurement measurement = measure(member, *operation, shared.options);
    if (rank == 0) shared.measurement = std::move(measurement);
  } catch (const RankLeft&) {
  }
}

void count_traffic(CaseResult& result, const ThreadsCollective& executor, int ranks) {
  Bytes busiest;
  int messages = 0;
  for (int r = 0; r < ranks; ++r) {
    const Moved moved = executor.moved(r);
    busiest = std::max({busiest, moved.sent, moved.received});
    messages = std::max(messages, moved.messages);
  }
  result.wire_busiest = busiest;
  result.messages_busiest = messages;
}

}  // namespace

ThreadsBackend::ThreadsBackend(const BackendOptions& options)
    : options_(options), host_(this_host()) {}

/// Buffers, as much again for what an executor may copy aside, and what is walked to empty the
/// caches.
Bytes ThreadsBackend::memory_needed(const Case& c) const {
  const int per_rank = c.placement == Placement::in_place ? 2 : 3;
  const Bytes walked{c.measure.cache == CacheState::cold ? 2 * host_.last_level_cache : 0};
  const std::int64_t copies = std::int64_t{per_rank} * c.ranks;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (c.size().value > (kMost - walked.value) / copies) return {kMost};
  return c.size() * copies + walked;
}

Bytes ThreadsBackend::memory_available() const { return {this_host().memory_available}; }

std::optional<LinkCost> ThreadsBackend::link_cost() {
  if (!link_cost_ && host_.cores.size() >= 2)
    link_cost_ = measure_link_cost({host_.cores[0], host_.cores[1]});
  return link_cost_;
}

CaseResult ThreadsBackend::run(const Case& c) {
  CaseResult result{.implementation = "collmark", .algorithm = c.algorithm};
  measure_or_skip(result, [&] {
    if (is_library(c.algorithm)) throw Unsupported("the threads backend has no library of its own");
    if (split_variant(c.algorithm).launching == Launching::graph)
      throw Unsupported("a variant of kernels, --backend cuda");
    switch (split_variant(c.algorithm).variant) {
      case Variant::plain:
        break;
      case Variant::window:
        throw Unsupported(
            "threads share all of their memory: a window is for processes, --backend mpi");
      default:
        throw Unsupported("a variant of kernels, --backend cuda");
    }
    if (c.collective == Collective::all_to_all && c.placement == Placement::in_place)
      throw Unsupported("all_to_all in place: blocks would overwrite others not yet sent");
    require_team(c.ranks);
    const Schedule schedule = build(c.collective, c.algorithm, c.ranks, c.root);
    result.reason = disproof(c.algorithm, schedule);
    if (result.reason.empty())
      measure_into(result, c, schedule);
    else
      result.status = Status::failed;
  });
  return result;
}

void ThreadsBackend::measure_into(CaseResult& result, const Case& c, const Schedule& schedule) {
  const Partition part(schedule, c.count);
  result.rounds = schedule.steps;
  result.chunk = Bytes{part.largest().value * static_cast<std::int64_t>(size_of(c.dtype))};

  const auto launch =
      std::make_shared<ThreadLaunch>(c.ranks, TeamOptions{.timeout = options_.timeout});
  result.oversubscribed = launch->team().oversubscribed();
  const Bytes walk{c.measure.cache == CacheState::cold ? 2 * host_.last_level_cache : 0};
  const auto shared = std::make_shared<SharedCase>(launch, c, schedule, walk);

  result.flag_ns = in_ns(flag_time_between_ranks(host_.cores));
  running_.run(launch, [shared](int rank) { run_rank(*shared, rank); });
  result.flag_after_ns = in_ns(flag_time_between_ranks(host_.cores));

  result.measurement = std::move(shared->measurement);
  result.pages = pages_under(shared->collective.buffers());
  count_traffic(result, shared->collective.executor(), c.ranks);
  result.link = link_cost();
  if (!result.measurement.correct()) {
    result.status = Status::failed;
    result.reason = describe(result.measurement.check, c.dtype);
  }
}

void ThreadsBackend::interrupt() noexcept { running_.interrupt(); }

}  // namespace collmark
