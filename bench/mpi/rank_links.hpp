/// How far apart the ranks of a job are: every pair, both ways.
#pragma once

#include <vector>

#include "bench/mpi/mpi_case.hpp"
#include "bench/mpi_launch.hpp"
#include "collectives/mpi/communicator.hpp"

namespace collmark {

/// Called by all members of `comm`; rank 0 gets the links, sorted by pair. A rank that cannot go on, for want of memory
/// or of another rank, gives up.
[[nodiscard]] std::vector<PairLink> measure_rank_links(const Communicator& comm,
                                                       const LinksOrder& order,
                                                       const CaseContext& context);

}  // namespace collmark
