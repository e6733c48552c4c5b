#include "bench/mpi/network_team.hpp"

#include "collectives/schedule.hpp"

namespace collmark {
namespace {

MPI_Comm duplicate(MPI_Comm of) {
  MPI_Comm own = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(of, &own), "MPI_Comm_dup");
  return own;
}

}  // namespace

NetworkTeam::NetworkTeam(const Communicator& comm) : MpiTeam(duplicate(comm.handle())) {}

void NetworkTeam::barrier() {
  for (int round = 0, distance = 1; distance < ranks(); ++round, distance *= 2)
    check_mpi(
        MPI_Sendrecv(nullptr, 0, MPI_BYTE, mod(rank() + distance, ranks()), round, nullptr, 0,
                     MPI_BYTE, mod(rank() - distance, ranks()), round, handle(), MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
}

Start NetworkTeam::start_together() {
  barrier();
  return {Clock::now()};
}

}  // namespace collmark
