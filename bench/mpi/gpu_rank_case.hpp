/// One case of a sweep whose ranks are processes with a GPU each, as each of them runs it.
#pragma once

#include "bench/mpi/mpi_case.hpp"
#include "bench/mpi/rank_gpu.hpp"
#include "bench/mpi_launch.hpp"

namespace collmark {

/// As run_case; `gpu` is this rank's own.
[[nodiscard]] CaseResult run_gpu_case(const Communicator& comm, const Case& c, RankGpuOwner& gpu,
                                      const CaseContext& context);

}  // namespace collmark
