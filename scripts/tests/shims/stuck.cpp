// An MPI library in which a call never ends at one rank: COLLMARK_TEST_STUCK=CALL@RANK. And one in which each message
// that is sent takes longer: COLLMARK_TEST_SLOW_MS.
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

extern "C" int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag,
                        MPI_Comm comm) {
  if (const char* const slow = std::getenv("COLLMARK_TEST_SLOW_MS"))
    usleep(1000 * static_cast<useconds_t>(std::atoi(slow)));
  return PMPI_Send(data, count, type, to, tag, comm);
}

extern "C" int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  enter("MPI_Comm_dup");
  return PMPI_Comm_dup(comm, copy);
}

extern "C" int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  enter("MPI_Ibarrier");
  return PMPI_Ibarrier(comm, request);
}

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
