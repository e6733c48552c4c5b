#include "kernels/model/protocols.hpp"

#include <ostream>
#include <relacy/relacy.hpp>

namespace collmark::model {
namespace {

constexpr auto kAcquire = rl::mo_acquire, kRelease = rl::mo_release, kRelaxed = rl::mo_relaxed;

// Small: every interleaving counts.
constexpr unsigned kSlots = 2, kMessages = 5, kLaunches = 4, kRanks = 3;

bool reached(unsigned a, unsigned b) { return static_cast<int>(a - b) >= 0; }

template <class Flag>
void wait_for(Flag& flag, unsigned value, rl::memory_order order) {
  rl::linear_backoff backoff;
  while (!reached(flag.load(order, $), value)) backoff.yield($);
}

template <rl::memory_order kTail, rl::memory_order kHead, rl::memory_order kWait, unsigned kCredits>
struct Link : rl::test_suite<Link<kTail, kHead, kWait, kCredits>, 2> {
  rl::atomic<unsigned> tail, head;
  rl::var<unsigned> slot[kSlots];

  void before() {
    tail($) = 0;
    head($) = 0;
  }
  void thread(unsigned rank) {
    for (unsigned n = 0; n < kMessages; ++n)
      if (rank == 0) {
        wait_for(head, n + 1 - kCredits, kWait);
        slot[n % kSlots]($) = 7 * n;
        tail.store(n + 1, kTail, $);
      } else {
        wait_for(tail, n + 1, kWait);
        RL_ASSERT(slot[n % kSlots]($) == 7 * n);
        head.store(n + 1, kHead, $);
      }
  }
};

template <rl::memory_order kArrive, rl::memory_order kWait, bool kMeetAtTheEnd>
struct Meeting : rl::test_suite<Meeting<kArrive, kWait, kMeetAtTheEnd>, kRanks> {
  rl::atomic<unsigned> arrived[kRanks][kRanks];
  rl::var<unsigned> data[kRanks];

  void before() {
    for (auto& there : arrived)
      for (auto& flag : there) flag($) = 0;
  }
  void meet(unsigned rank, unsigned now) {
    for (auto& there : arrived) there[rank].store(now, kArrive, $);
    for (unsigned peer = 0; peer < kRanks; ++peer) wait_for(arrived[rank][peer], now, kWait);
  }
  void thread(unsigned rank) {
    unsigned now = 0;
    for (unsigned launch = 0; launch < 2; ++launch) {
      data[rank]($) = 10 * launch + rank;
      meet(rank, ++now);
      for (unsigned peer = 0; peer < kRanks; ++peer) RL_ASSERT(data[peer]($) == 10 * launch + peer);
      if (kMeetAtTheEnd) meet(rank, ++now);
    }
  }
};

template <unsigned kInboxes, bool kBothFlags>
struct LowLatency : rl::test_suite<LowLatency<kInboxes, kBothFlags>, 2> {
  rl::atomic<unsigned> word[2][kInboxes][2];  // [owner][parity]: 8 bits of data over 8 bits of flag

  void before() {
    for (auto& owner : word)
      for (auto& line : owner)
        for (auto& half : line) half($) = 0;
  }
  static unsigned data(unsigned rank, unsigned epoch) { return 100 * rank + epoch; }
  void thread(unsigned rank) {
    const unsigned peer = 1 - rank;
    for (unsigned epoch = 1; epoch <= kLaunches; ++epoch) {
      auto& to = word[peer][epoch % kInboxes];
      for (auto& half : to) half.store(data(rank, epoch) << 8 | epoch, rl::mo_relaxed, $);
      auto& from = word[rank][epoch % kInboxes];
      rl::linear_backoff backoff;
      while (true) {
        const unsigned a = from[0].load(rl::mo_relaxed, $), b = from[1].load(rl::mo_relaxed, $);
        if ((a & 0xff) == epoch && (!kBothFlags || (b & 0xff) == epoch)) {
          RL_ASSERT(a >> 8 == data(peer, epoch) && b >> 8 == data(peer, epoch));
          break;
        }
        backoff.yield($);
      }
    }
  }
};

/// What a receiver has loaded is a mark of its own: Relacy loads in the order of the source, so it never shows a load that
/// comes after the store that lets the sender overwrite the line.
template <rl::memory_order kHead, rl::memory_order kWait, unsigned kCredits, unsigned kFlags>
struct LowLatencyLink : rl::test_suite<LowLatencyLink<kHead, kWait, kCredits, kFlags>, 2> {
  rl::atomic<unsigned> head;
  rl::atomic<unsigned> line[kSlots][2];  // 8 bits of data over 8 bits of flag
  rl::var<unsigned> loaded[kMessages];

  void before() {
    head($) = 0;
    for (auto& slot : line)
      for (auto& half : slot) half($) = 0;
  }
  static unsigned data(unsigned n, unsigned half) { return 10 * n + half; }
  void send(unsigned n) {
    wait_for(head, n + 1 - kCredits, kWait);
    if (n >= kSlots) RL_ASSERT(loaded[n - kSlots]($) == n - kSlots);
    for (unsigned half = 0; half < 2; ++half)
      line[n % kSlots][half].store(data(n, half) << 8 | (n + 1), rl::mo_relaxed, $);
  }
  void receive(unsigned n) {
    rl::linear_backoff backoff;
    while (true) {
      const unsigned a = line[n % kSlots][0].load(rl::mo_relaxed, $);
      const unsigned b = line[n % kSlots][1].load(rl::mo_relaxed, $);
      if (((a & 0xff) == n + 1 || (kFlags & 1) == 0) &&
          ((b & 0xff) == n + 1 || (kFlags & 2) == 0)) {
        RL_ASSERT(a >> 8 == data(n, 0) && b >> 8 == data(n, 1));
        break;
      }
      backoff.yield($);
    }
    loaded[n]($) = n;
    head.store(n + 1, kHead, $);
  }
  void thread(unsigned rank) {
    for (unsigned n = 0; n < kMessages; ++n) rank == 0 ? send(n) : receive(n);
  }
};

template <class Protocol>
bool holds() {
  std::ostream nowhere(nullptr);
  rl::test_params parameters;
  parameters.iteration_count = 20'000;
  parameters.execution_depth_limit = 4'000;
  parameters.output_stream = &nowhere;
  parameters.progress_stream = &nowhere;
  return rl::simulate<Protocol>(parameters);
}

}  // namespace

bool link_holds(LinkFault fault) {
  switch (fault) {
    case LinkFault::relaxed_tail:
      return holds<Link<kRelaxed, kRelease, kAcquire, kSlots>>();
    case LinkFault::relaxed_head:
      return holds<Link<kRelease, kRelaxed, kAcquire, kSlots>>();
    case LinkFault::relaxed_wait:
      return holds<Link<kRelease, kRelease, kRelaxed, kSlots>>();
    case LinkFault::credit_too_many:
      return holds<Link<kRelease, kRelease, kAcquire, kSlots + 1>>();
    case LinkFault::none:
      break;
  }
  return holds<Link<kRelease, kRelease, kAcquire, kSlots>>();
}

bool meeting_holds(MeetingFault fault) {
  switch (fault) {
    case MeetingFault::relaxed_arrival:
      return holds<Meeting<kRelaxed, kAcquire, true>>();
    case MeetingFault::relaxed_wait:
      return holds<Meeting<kRelease, kRelaxed, true>>();
    case MeetingFault::none_at_the_end:
      return holds<Meeting<kRelease, kAcquire, false>>();
    case MeetingFault::none:
      break;
  }
  return holds<Meeting<kRelease, kAcquire, true>>();
}

bool low_latency_link_holds(LowLatencyLinkFault fault) {
  constexpr unsigned kBoth = 3;
  switch (fault) {
    case LowLatencyLinkFault::relaxed_head:
      return holds<LowLatencyLink<kRelaxed, kAcquire, kSlots, kBoth>>();
    case LowLatencyLinkFault::relaxed_wait:
      return holds<LowLatencyLink<kRelease, kRelaxed, kSlots, kBoth>>();
    case LowLatencyLinkFault::credit_too_many:
      return holds<LowLatencyLink<kRelease, kAcquire, kSlots + 1, kBoth>>();
    case LowLatencyLinkFault::first_flag_only:
      return holds<LowLatencyLink<kRelease, kAcquire, kSlots, 1>>();
    case LowLatencyLinkFault::second_flag_only:
      return holds<LowLatencyLink<kRelease, kAcquire, kSlots, 2>>();
    case LowLatencyLinkFault::none:
      break;
  }
  return holds<LowLatencyLink<kRelease, kAcquire, kSlots, kBoth>>();
}

bool low_latency_holds(LowLatencyFault fault) {
  switch (fault) {
    case LowLatencyFault::one_flag:
      return holds<LowLatency<2, false>>();
    case LowLatencyFault::one_inbox:
      return holds<LowLatency<1, true>>();
    case LowLatencyFault::none:
      break;
  }
  return holds<LowLatency<2, true>>();
}

}  // namespace collmark::model
