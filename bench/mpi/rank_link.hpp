/// What lies between two ranks: how long a message takes one way, and how fast a long one is.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <utility>

#include "bench/watchdog.hpp"
#include "collectives/mpi/communicator.hpp"
#include "collectives/units.hpp"

namespace collmark {

/// Ranks of the communicator.
struct Direction {
  int from = 0;
  int to = 1;
};

/// Sleeps between two looks, longer each time, up to a millisecond.
class Nap {
 public:
  void take();

 private:
  std::chrono::microseconds next_{50};
};

/// A barrier that is looked at now and then: those who wait for others must not spin on the cores that these
/// measure on.
class QuietBarrier {
 public:
  explicit QuietBarrier(const Communicator& comm);
  /// Have all members of the communicator made one?
  [[nodiscard]] bool passed();

 private:
  MPI_Request all_ = MPI_REQUEST_NULL;
};

/// Measures one way between two ranks; both of them make one and call the same functions, and `from` has the
/// times, `to` gets zero. No clock is shared: what comes back is an empty message, whose time is taken off.
class RankLink {
 public:
  ///   between   called by `from` before each message
  RankLink(
      const Communicator& comm, const Direction& way, Watchdog& dog,
      std::function<void()> between = [] {})
      : comm_(comm.handle()),
        from_(comm.rank() == way.from),
        peer_(from_ ? way.to : way.from),
        dog_(dog),
        between_(std::move(between)) {}

  /// Of an empty message, one way: half of the median round trip, over about 20 ms.
  [[nodiscard]] Seconds flag();

  /// Of `data` (at most 2^31 - 1 bytes), one way: the median of 3 to 15 messages, as many as take 0.2 s.
  [[nodiscard]] Seconds copy(std::span<std::byte> data, Seconds flag);

  /// The same of exactly so many messages.
  [[nodiscard]] Seconds copies(std::span<std::byte> data, Seconds flag, int count);

 private:
  /// A message there, an empty one back.
  [[nodiscard]] Seconds round_trip(std::span<std::byte> data);
  [[nodiscard]] Seconds median_round_trip(std::span<std::byte> data, int count);
  /// `from` knows how many.
  [[nodiscard]] int told(int count);
  void send(std::span<const std::byte> data);
  void receive(std::span<std::byte> data);

  MPI_Comm comm_;
  bool from_;
  int peer_;
  Watchdog& dog_;
  std::function<void()> between_;
};

}  // namespace collmark
