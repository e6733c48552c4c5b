/// How far apart the ranks of a job are: every pair, both ways.
#pragma once

#include <vector>

#include "bench/mpi_launch.hpp"
#include "bench/watchdog.hpp"
#include "collectives/mpi/communicator.hpp"

namespace collmark {

/// Called by all members of `comm`; rank 0 gets the links, sorted by pair. Those that wait for their turn
/// sleep, since their cores may be the ones that others measure on.
///   Throws   Error{incomparable} if this rank has no memory for the message.
[[nodiscard]] std::vector<PairLink> measure_rank_links(const Communicator& comm,
                                                       const LinksOrder& order, Watchdog& dog);

}  // namespace collmark
