#include "collectives/waiting.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <string>
#include <utility>

#include "collectives/error.hpp"
#include "topologies/own_cores.hpp"

namespace collmark {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSpinsAlone = 20'000;       // [looks], about 0.3 ms: every rank has a core of its own
constexpr int kSpinsOversubscribed = 60;  // [looks], about 1 us: whoever we wait for needs our core
constexpr int kYieldsPerClockReading = 256;
constexpr int kYieldsBeforeNap =
    16;  // a scheduler that will not switch at a yield costs milliseconds a step

std::string describe(const WaitingFor& w, std::chrono::milliseconds waited) {
  const std::string where = w.step == kInBarrier ? "in the barrier"
                            : w.step == kLeaving ? "at the end of the operation"
                                                 : fmt::format("in step {}", w.step);
  return fmt::format("rank {} hung {}: waited {:.1f} s for rank {} {}", w.rank, where,
                     static_cast<double>(waited.count()) / 1000.0, w.peer, words(w.deed));
}

}  // namespace

std::string_view words(Deed deed) {
  constexpr std::array<std::string_view, 3> kWords{"to arrive", "to enter the operation",
                                                   "to do its part"};
  return kWords[static_cast<std::size_t>(deed)];
}

// The value and the number of sleepers are each written by one side and read by the other: sequentially
// consistent, or both sides could miss each other. A futex looks at the low half of the value; it is not
// private, since the other side may be another process.
void Counter::publish_and_wake(std::uint64_t v) {
  value.store(v, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0)
    syscall(SYS_futex, &value, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Counter::sleep_below(std::uint64_t v) {
  constexpr timespec kNap{.tv_sec = 0, .tv_nsec = 5'000'000};
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  const std::uint64_t seen = value.load(std::memory_order_seq_cst);
  if (seen < v)
    syscall(SYS_futex, &value, FUTEX_WAIT, static_cast<std::uint32_t>(seen), &kNap, nullptr, 0);
  sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

Waiting::Waiting(int rank_count, std::vector<int> on_cores, const WaitOptions& options)
    : ranks(rank_count),
      cores(std::move(on_cores)),
      timeout(options.timeout),
      pinned(options.pinned),
      crowded(static_cast<std::size_t>(ranks) > cores.size()),
      spins(crowded ? kSpinsOversubscribed : kSpinsAlone) {}

Waiting::Waiting(const std::vector<std::vector<int>>& cores_of_each,
                 std::chrono::milliseconds limit)
    : ranks(static_cast<int>(cores_of_each.size())),
      timeout(limit),
      pinned(false),
      crowded(ranks > ranks_with_own_core(cores_of_each)),
      spins(crowded ? kSpinsOversubscribed : kSpinsAlone) {}

WaitingFor Waiting::root_of(WaitingFor waiting) const {
  for (int hops = 0; hops < ranks; ++hops) {  // a cycle of waits ends here too
    const Blocked& next = *blocked[static_cast<std::size_t>(waiting.peer)];
    const int peer = next.peer.load(std::memory_order_relaxed);
    if (peer < 0) return waiting;
    waiting = {.rank = waiting.peer,
               .peer = peer,
               .step = next.step.load(std::memory_order_relaxed),
               .deed = next.deed.load(std::memory_order_relaxed)};
  }
  return waiting;
}

void Waiting::await_patiently(Counter& counter, std::uint64_t v, const WaitingFor& waiting) {
  Blocked& mine = *blocked[static_cast<std::size_t>(waiting.rank)];
  mine.step.store(waiting.step, std::memory_order_relaxed);
  mine.deed.store(waiting.deed, std::memory_order_relaxed);
  mine.peer.store(waiting.peer, std::memory_order_relaxed);
  wait_long(counter, v, waiting);
  mine.peer.store(-1, std::memory_order_relaxed);
}

void Waiting::wait_long(Counter& counter, std::uint64_t v, const WaitingFor& waiting) {
  const Clock::time_point start = Clock::now();
  while (true) {
    for (int i = 0; i < (crowded ? kYieldsBeforeNap : kYieldsPerClockReading); ++i) {
      if (counter.reached(v)) return;
      sched_yield();
    }
    leave_if_stopped();
    if (crowded) counter.sleep_below(v);
    if (counter.reached(v)) return;
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    if (waited >= timeout) throw Error(ErrorKind::timed_out, describe(root_of(waiting), waited));
  }
}

void Waiting::leave_if_stopped() const {
  const int now = verdict.load(std::memory_order_relaxed);
  if (now == interrupted) throw Error(ErrorKind::interrupted, "interrupted");
  if (now == failed) throw Abandoned();
}

}  // namespace collmark
