#include "bench/mpi/mpi_peers.hpp"

namespace collmark {

std::vector<std::byte> MpiPeers::all_gather(std::span<const std::byte> mine) {
  const Watched watched(dog_, "for the other ranks to prepare their GPUs");
  const int size = static_cast<int>(mine.size());
  std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(ranks()));
  check_mpi(MPI_Allgather(mine.data(), size, MPI_BYTE, all.data(), size, MPI_BYTE, comm_.handle()),
            "MPI_Allgather");
  return all;
}

}  // namespace collmark
