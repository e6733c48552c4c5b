/// How ranks that share memory wait for each other: counters, bounded spins, and who hangs for whom.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>

namespace collmark {

inline constexpr std::size_t kCacheLine =
    128;  // [bytes], two lines: the adjacent-line prefetcher pairs them

/// A number that only grows, on cache lines of its own. Its owner publishes, others await. Like all that is
/// waited with, it holds no pointer: it may lie in memory that every process sees at another address.
struct alignas(kCacheLine) Counter {
  std::atomic<std::uint64_t> value{0};
  std::atomic<std::uint32_t> sleepers{0};

  /// Everything the owner wrote before is visible to whoever awaits this value.
  void publish(std::uint64_t v) {
    value.store(v, std::memory_order_release);
  }  // pairs with reached()
  [[nodiscard]] bool reached(std::uint64_t v) const {
    return value.load(std::memory_order_acquire) >= v;  // pairs with publish()
  }
  /// As publish, where waiting ranks may have gone to sleep.
  void publish_and_wake(std::uint64_t v);
  /// Sleeps until somebody publishes, or a little later.
  void sleep_below(std::uint64_t v);
};

/// What a peer is waited for to do.
enum class Deed : int { arrive, enter, take_part };
[[nodiscard]] std::string_view words(Deed deed);  // "to enter the operation"

inline constexpr int kInBarrier = -1;  // in place of a step
inline constexpr int kLeaving = -2;

/// What a rank waits for, for the report of a hang.
struct WaitingFor {
  int rank = 0;
  int peer = 0;
  int step = kInBarrier;  // of the schedule, or kInBarrier, kLeaving
  Deed deed = Deed::arrive;
};

/// The same where all ranks can see it, of one that has waited long; peer < 0: it waits for nothing.
struct alignas(kCacheLine) Blocked {
  std::atomic<int> peer{-1};
  std::atomic<int> step{-1};
  std::atomic<Deed> deed{Deed::arrive};
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                  std::atomic<int>::is_always_lock_free,
              "locks would lie in one process");

/// Thrown in the ranks that only stop because another one failed; never leaves ThreadTeam::run.
struct Abandoned : std::exception {};

struct WaitOptions {
  std::chrono::milliseconds timeout{30'000};  // of any single wait
  bool pinned = false;                        // rank r on cores[r mod cores]
};

/// The waits of some ranks, as one of them or all of them do them.
struct Waiting {
  /// `blocked` is for whoever owns that memory to fill.
  Waiting(int rank_count, std::vector<int> on_cores, const WaitOptions& options);
  /// Of ranks whose cores differ, as somebody else has bound them: [rank], those that each may run on.
  Waiting(const std::vector<std::vector<int>>& cores_of_each, std::chrono::milliseconds limit);

  void publish(Counter& counter, std::uint64_t v) const {
    crowded ? counter.publish_and_wake(v) : counter.publish(v);
  }

  /// Spins until the counter has reached `v`: a while on the core, then giving it away between looks,
  /// at last asleep if ranks share cores.
  /// Throws Error{timed_out} after the time-out, Abandoned or Error{interrupted} when the ranks have stopped.
  void await(Counter& counter, std::uint64_t v, const WaitingFor& waiting) {
    if (counter.reached(v)) return;
    const int looks = share_a_core(waiting.rank, waiting.peer) ? 0 : spins;
    for (int spin = 0; spin < looks; ++spin) {
      relax();
      if (counter.reached(v)) return;
    }
    await_patiently(counter, v, waiting);
  }
  /// Throws Abandoned or Error{interrupted} if the ranks have stopped.
  void leave_if_stopped() const;
  /// Then spinning keeps the peer from running.
  [[nodiscard]] bool share_a_core(int a, int b) const {
    return crowded && pinned && (a - b) % static_cast<int>(cores.size()) == 0;
  }

  int ranks;
  std::vector<Blocked*> blocked;  // [rank]
  std::vector<int> cores;         // that the ranks may run on; empty where each has its own list
  std::chrono::milliseconds timeout;
  bool pinned;
  bool crowded;  // not every rank can have a core to itself
  int spins;     // before the core is given away
  enum Verdict : int { running, failed, interrupted };
  std::atomic<int> verdict{running};

 private:
  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  void await_patiently(Counter& counter, std::uint64_t v, const WaitingFor& waiting);
  void wait_long(Counter& counter, std::uint64_t v, const WaitingFor& waiting);
  /// From one that hangs to the one that all hang for: follows who waits for whom.
  [[nodiscard]] WaitingFor root_of(WaitingFor waiting) const;
};

}  // namespace collmark
