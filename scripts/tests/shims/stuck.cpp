// An MPI library in which a call never ends at one rank: COLLMARK_TEST_STUCK=CALL@RANK.
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

void enter(const std::string& call) {
  const char* const stuck = std::getenv("COLLMARK_TEST_STUCK");
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) rank = std::getenv("PMI_RANK");
  if (stuck == nullptr || rank == nullptr || stuck != call + "@" + rank) return;
  while (true) pause();
}

}  // namespace

extern "C" int MPI_Init_thread(int* count, char*** words, int required, int* provided) {
  enter("MPI_Init_thread");
  return PMPI_Init_thread(count, words, required, provided);
}

extern "C" int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                                       void* base, MPI_Win* window) {
  enter("MPI_Win_allocate_shared");
  return PMPI_Win_allocate_shared(size, unit, info, comm, base, window);
}

extern "C" int MPI_Win_free(MPI_Win* window) {
  enter("MPI_Win_free");
  return PMPI_Win_free(window);
}

extern "C" int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
  enter("MPI_Comm_split");
  return PMPI_Comm_split(comm, color, key, part);
}

extern "C" int MPI_Comm_free(MPI_Comm* comm) {
  enter("MPI_Comm_free");
  return PMPI_Comm_free(comm);
}

extern "C" int MPI_Finalize() {
  enter("MPI_Finalize");
  return PMPI_Finalize();
}
