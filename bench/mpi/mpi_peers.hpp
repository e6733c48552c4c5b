/// Ranks of an MPI job as peers that share the memory of their GPUs.
#pragma once

#include "bench/watchdog.hpp"
#include "collectives/mpi/communicator.hpp"
#include "kernels/gpu_peers.hpp"

namespace collmark {

class MpiPeers final : public GpuPeers {
 public:
  MpiPeers(const Communicator& comm, Watchdog& dog) : comm_(comm), dog_(dog) {}

  [[nodiscard]] int rank() const override { return comm_.rank(); }
  [[nodiscard]] int ranks() const override { return comm_.ranks(); }
  [[nodiscard]] std::vector<std::byte> all_gather(std::span<const std::byte> mine) override;

 private:
  const Communicator& comm_;
  Watchdog& dog_;
};

}  // namespace collmark
