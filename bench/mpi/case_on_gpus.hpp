/// What cases of ranks with a GPU each have in common, whosever kernels run there.
#pragma once

#include <functional>
#include <memory>

#include "bench/device_operation.hpp"
#include "bench/mpi/mpi_case.hpp"
#include "bench/mpi/rank_gpu.hpp"
#include "kernels/gpu_peers.hpp"

namespace collmark {

/// One rank's way through a case; what it throws is given up, with the rank before words that are about its GPU alone.
[[nodiscard]] CaseResult or_give_up(int rank, const CaseContext& context,
                                    const std::function<CaseResult()>& run);

/// For the case's buffers, and as much again for what is kept beside them, on this rank's GPU.
///   Throws   Unsupported if it has not so much
void require_memory(const Case& c, int rank, const Gpu& gpu);

/// The ranks of a case, on one host or on several. Made and given back by all; so whoever gives up must keep it.
[[nodiscard]] std::unique_ptr<Team> team_of(const Communicator& comm, const CaseContext& context);

/// Who measures.
struct GpuRank {
  Team& team;
  GpuPeers& peers;  // the same ranks
  RankGpuOwner& gpu;
  const Case& c;
  const CaseContext& context;
};
/// Into `result`: times, clocks and what was wrong.
void time_on_gpus(CaseResult& result, DeviceOperation& operation, const GpuRank& rank);

}  // namespace collmark
