/// Who measures a link while all others sleep, and how these know that it goes on.
#pragma once

#include <chrono>
#include <vector>

#include "bench/team.hpp"
#include "bench/watchdog.hpp"
#include "collectives/mpi/communicator.hpp"

namespace collmark {

/// A turn may take long: of a slow link each of some twenty messages may take nearly the time that a single wait may
/// take. So those who wait for its end are told that it goes on.
///
///   sender      go_on()  go_on()  ...  go_on()  end()  await()
///   others      await() ........................................ all leave it together
///
/// A rank that says nothing is thus waited for no longer than about a timeout and a half, by all others alike: by who
/// measures with it, by who waits for a turn of its own, and by the sender if it was to wait itself.
class LinkTurns {
 public:
  LinkTurns(const Communicator& comm, Watchdog& dog, std::chrono::milliseconds timeout);

  /// By a sender, between its messages. Costs a look at the clock; says something once in a quarter of the timeout.
  void go_on();
  /// By a sender: its last message has arrived.
  void end();

  /// By all ranks, sleeping up to a millisecond at a time, since their cores may be the ones that others measure on.
  /// Returns when the senders have ended and all ranks have come.
  ///   Throws   Error{timed_out} that says which sender said nothing for too long, or that a rank did not come.
  void await(std::vector<int> senders);

 private:
  void tell_others(char word);
  void await_end_of(std::vector<int> senders);
  void await_all();

  const Communicator& comm_;
  Watchdog& dog_;
  std::chrono::milliseconds timeout_;
  Clock::time_point told_ = Clock::now();
};

}  // namespace collmark
