/// A library whose MPI_Allreduce spoils one element at one rank, in one of 200 calls.
#include <mpi.h>

extern "C" int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  static int calls = 0;
  const int status = PMPI_Allreduce(from, to, count, type, op, comm);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (++calls % 200 == 0 && rank == 1 && type == MPI_FLOAT && count > 0)
    static_cast<float*>(to)[count / 2] += 1.0F;
  return status;
}
