/// The GPU of one process of a job.
#pragma once

#include <memory>
#include <vector>

#include "bench/mpi/hosts.hpp"
#include "bench/mpi_launch.hpp"
#include "bench/watchdog.hpp"
#include "collectives/mpi/communicator.hpp"
#include "kernels/gpu.hpp"
#include "kernels/gpu_condition.hpp"

namespace collmark {

class RankNccl;

class RankGpuOwner {
 public:
  /// Of the visible GPUs it is number `rank_on_host`, modulo how many there are. Where each process sees one only, that one.
  explicit RankGpuOwner(int rank_on_host) : rank_on_host_(rank_on_host) {}

  /// Opens the driver when it is first needed.  Throws Error{absent} as Gpus.
  [[nodiscard]] Gpus& gpus();
  [[nodiscard]] const GpuMonitor& monitor();
  /// Something that does not come to an end may use it: it is not given back.
  void leave_behind();

 private:
  int rank_on_host_;
  std::unique_ptr<Gpus> gpus_;
  std::unique_ptr<GpuMonitor> monitor_;
};

/// What this rank says of itself. `nccl` is null if it is not asked for.
[[nodiscard]] RankGpu own_gpu(RankGpuOwner& gpu, RankNccl* nccl);

/// At rank 0 every rank's, elsewhere nothing. Called by all members of `comm`.
[[nodiscard]] std::vector<RankGpu> gpus_of_all(const Communicator& comm, const RankGpu& mine,
                                               Watchdog& dog);

}  // namespace collmark
