/// The constants of a case's model time: alpha, beta and gamma as the ranks of a job find them.
#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "bench/mpi/hosts.hpp"
#include "bench/watchdog.hpp"
#include "collectives/cost.hpp"
#include "collectives/mpi/communicator.hpp"

namespace collmark {

/// Measured once for each pair that a case needs: between rank 0 and the first rank on another host, or rank 1
/// where there is none.
class ModelLinks {
 public:
  /// Called by all members of `comm`, the first ranks of the job. Rank 0 gets the costs: a message without
  /// data, one of 1 MiB, an f32 sum of 256 KiB. Empty with one rank.
  ///   Throws   Error{timed_out} as LinkTurns: of a slow link the messages take long, each of them less than `timeout`
  [[nodiscard]] std::optional<LinkCost> of(const Communicator& comm, const Hosts& hosts,
                                           Watchdog& dog, std::chrono::milliseconds timeout);

 private:
  std::map<int, LinkCost> by_peer_;  // of rank 0
};

}  // namespace collmark
