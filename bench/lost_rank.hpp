/// Which rank a launcher has seen die.
#pragma once

#include <string>
#include <vector>

namespace collmark {

/// Where a rank runs, as it says itself.
struct RankProcess {
  int pid = 0;
  std::string host = {};
};

/// "rank 2 was killed by signal 9"; empty if the launcher has not said so.
///   said        by Open MPI's mpirun, which names the rank, or by Hydra (MPICH), which names the process
///   processes   [rank]; may be empty where ranks are named
[[nodiscard]] std::string lost_rank(const std::string& said,
                                    const std::vector<RankProcess>& processes);

}  // namespace collmark
