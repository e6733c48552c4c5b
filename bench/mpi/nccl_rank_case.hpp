/// One case of NCCL's on ranks that are processes with a GPU each, as each of them runs it.
#pragma once

#include "bench/mpi/mpi_case.hpp"
#include "bench/mpi/rank_nccl.hpp"
#include "bench/mpi_launch.hpp"

namespace collmark {

/// As run_case, but called by all ranks of the job, which `all` are: NCCL splits a communicator at all its ranks. Those
/// that the case does without get an empty result.
[[nodiscard]] CaseResult run_nccl_case(const Communicator& all, const GpuCase& asked,
                                       RankGpuOwner& gpu, RankNccl& nccl,
                                       const CaseContext& context);

}  // namespace collmark
