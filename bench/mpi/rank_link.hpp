/// What lies between two ranks: how long a message takes one way, and how fast a long one is.
#pragma once

#include <span>

#include "bench/watchdog.hpp"
#include "collectives/mpi/communicator.hpp"
#include "collectives/units.hpp"

namespace collmark {

/// Ranks of the communicator.
struct Way {
  int from = 0;
  int to = 1;
};

/// Returns when all members of the communicator have called it. Those who wait sleep meanwhile, up to a
/// millisecond at a time: their cores may be the ones that others measure on.
void quiet_barrier(const Communicator& comm);

/// Measures one way between two ranks; both of them make one and call the same functions, and `from` has the
/// times, `to` gets zero. No clock is shared: what comes back is an empty message, whose time is taken off.
class RankLink {
 public:
  RankLink(const Communicator& comm, const Way& way, Watchdog& dog)
      : comm_(comm.handle()),
        from_(comm.rank() == way.from),
        peer_(from_ ? way.to : way.from),
        dog_(dog) {}

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
};

}  // namespace collmark
