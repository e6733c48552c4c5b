/// A library whose MPI_Allreduce communicates nothing: as many times its own input as there are ranks.
#include <mpi.h>

extern "C" int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  if (type != MPI_FLOAT) return PMPI_Allreduce(from, to, count, type, op, comm);
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  const auto* const in = static_cast<const float*>(from == MPI_IN_PLACE ? to : from);
  auto* const out = static_cast<float*>(to);
  for (int i = 0; i < count; ++i) out[i] = static_cast<float>(ranks) * in[i];
  return MPI_SUCCESS;
}
