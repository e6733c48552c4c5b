#include "bench/mpi/mpi_team.hpp"

namespace collmark {

MpiTeam::MpiTeam(MPI_Comm own) : comm_(own) {
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &ranks_), "MPI_Comm_size");
}

MpiTeam::~MpiTeam() { MPI_Comm_free(&comm_); }

void MpiTeam::broadcast(std::span<std::byte> bytes) {
  check_mpi(MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, comm_),
            "MPI_Bcast");
}

std::vector<std::byte> MpiTeam::gather(std::span<const std::byte> mine) {
  const int size = static_cast<int>(mine.size());
  std::vector<std::byte> all(rank_ == 0 ? mine.size() * static_cast<std::size_t>(ranks_) : 0);
  check_mpi(MPI_Gather(mine.data(), size, MPI_BYTE, all.data(), size, MPI_BYTE, 0, comm_),
            "MPI_Gather");
  return all;
}

}  // namespace collmark
