/// Which rank a launcher has seen die.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace collmark {

/// Where a rank runs, as it says itself.
struct RankProcess {
  int pid = 0;
  std::string host = {};
};

/// "rank 2 was killed by signal 9", "ended with exit code 3", "called MPI_Abort with 5"; empty if the launcher has not said so.
///   said        by Open MPI's mpirun, which names the rank, or by Hydra (MPICH), which names the process
///   processes   [rank]; may be empty where ranks are named
[[nodiscard]] std::string lost_rank(const std::string& said,
                                    const std::vector<RankProcess>& processes);

/// How long others are heard when one rank has said that it waits for too long: half a timeout, since ranks do not
/// begin to wait at once.
[[nodiscard]] std::chrono::milliseconds grace_of(std::chrono::milliseconds timeout);

/// "; rank 1 had said nothing 15 s later" of each of `ranks` that was not heard.
[[nodiscard]] std::string silent_ranks(int ranks, const std::set<int>& heard,
                                       std::chrono::milliseconds grace);

}  // namespace collmark
