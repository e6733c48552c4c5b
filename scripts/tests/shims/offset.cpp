/// A library whose MPI_Allreduce adds 0.9 to every sum.
#include <mpi.h>

extern "C" int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  const int status = PMPI_Allreduce(from, to, count, type, op, comm);
  auto* const out = static_cast<float*>(to);
  if (type == MPI_FLOAT)
    for (int i = 0; i < count; ++i) out[i] += 0.9F;
  return status;
}
