/// One rank's part of a collective operation, prepared to be timed: buffers allocated and first
/// touched.
#pragma once

#include <chrono>
#include <cstdint>

#include "collectives/threads.hpp"

namespace collmark {

/// One element that is not what it should be.
struct WrongElement {
  int rank = -1;
  std::int64_t index = -1;  // of the rank's output [elements]
  double got = 0.0;
  double expected = 0.0;
};

struct Check {
  std::int64_t wrong = 0;   // elements
  WrongElement first = {};  // meaningful if wrong > 0
};

/// In these every rank needs something from every other, so none can run ahead of the rest.
[[nodiscard]] constexpr bool synchronises(Collective c) {
  return c != Collective::broadcast && c != Collective::reduce;
}

/// What may be done with the operation between two readings of the clock.
struct OperationTraits {
  bool synchronising = true;  // no rank can finish before all have started: may be timed in batches
  bool keeps_input = true;    // out of place: run() again needs no rewrite_input() to be checked
};

/// Devices that work off a queue: the host's clock would time the queueing.
class OwnClock {
 public:
  virtual ~OwnClock() = default;
  /// What is run from here on waits for stop().
  virtual void start() = 0;
  /// Lets it begin, and waits for its end: how long it took, on the slowest device.
  [[nodiscard]] virtual std::chrono::nanoseconds stop() = 0;
  /// Between two times that it can tell from each other.
  [[nodiscard]] virtual std::chrono::nanoseconds tick() const = 0;
};

/// All ranks call the same functions in the same order.
class Operation {
 public:
  virtual ~Operation() = default;
  [[nodiscard]] virtual OperationTraits traits() const = 0;

  /// Writes this rank's own input, as backward does, with other values than last time, so that a
  /// result left over from an earlier run is wrong.
  virtual void rewrite_input() = 0;
  virtual void run() = 0;
  /// Compares every element this rank is owed with the exact result of the latest inputs.
  [[nodiscard]] virtual Check check() const = 0;
  /// Replaces what this rank's caches hold: walks twice the last-level cache.
  virtual void evict() = 0;
  /// Counted at the move, in the last run.
  [[nodiscard]] virtual Moved moved() const = 0;
  /// Null where the host's clock is the right one. With a clock of its own run() may return before it is done; check()
  /// waits for it.
  [[nodiscard]] virtual OwnClock* own_clock() { return nullptr; }
};

}  // namespace collmark
