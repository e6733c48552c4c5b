/// Writes what Open MPI sends in each collective call, as its own monitoring counts it (--mca pml_monitoring_enable 1),
/// to $COLLMARK_TEST_MESSAGES.RANK. A line for each kind of call, once:
///
///   allreduce 4 0 4 1024 6 6144      call, number of the forced algorithm, segment, ranks, count, messages, bytes
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

namespace {

long messages = 0, bytes = 0;

/// A control variable of Open MPI; 0 if there is none.
int variable(const std::string& name) {
  int index = 0, count = 0, value = 0, provided = 0;
  MPI_T_init_thread(MPI_THREAD_SERIALIZED, &provided);
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  if (MPI_T_cvar_get_index(name.c_str(), &index) == MPI_SUCCESS) {
    MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count);
    MPI_T_cvar_read(handle, &value);
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return value;
}

template <class Call>
int counted(const char* call, int count, MPI_Comm comm, const Call& make) {
  static std::set<std::string> seen;
  messages = bytes = 0;
  const int status = make();
  const long sent = messages, size = bytes;
  int ranks = 0, rank = 0;
  PMPI_Comm_size(comm, &ranks);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string forced = "coll_tuned_" + std::string(call) + "_algorithm";
  const std::string line = std::string(call) + " " + std::to_string(variable(forced)) + " " +
                           std::to_string(variable(forced + "_segmentsize")) + " " +
                           std::to_string(ranks) + " " + std::to_string(count) + " " +
                           std::to_string(sent) + " " + std::to_string(size) + "\n";
  const char* const path = std::getenv("COLLMARK_TEST_MESSAGES");
  if (path == nullptr || !seen.insert(line).second) return status;
  if (std::FILE* const file = std::fopen((path + ("." + std::to_string(rank))).c_str(), "a")) {
    std::fputs(line.c_str(), file);
    std::fclose(file);
  }
  return status;
}

}  // namespace

/// Of Open MPI: common_monitoring.h.
extern "C" void mca_common_monitoring_record_pml(int, std::size_t size, int) {
  ++messages;
  bytes += static_cast<long>(size);
}

extern "C" int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  return counted("allreduce", count, comm,
                 [&] { return PMPI_Allreduce(from, to, count, type, op, comm); });
}

extern "C" int MPI_Allgather(const void* from, int sent, MPI_Datatype type, void* to, int count,
                             MPI_Datatype to_type, MPI_Comm comm) {
  return counted("allgather", count, comm,
                 [&] { return PMPI_Allgather(from, sent, type, to, count, to_type, comm); });
}

extern "C" int MPI_Reduce_scatter(const void* from, void* to, const int counts[], MPI_Datatype type,
                                  MPI_Op op, MPI_Comm comm) {
  return counted("reduce_scatter", counts[0], comm,
                 [&] { return PMPI_Reduce_scatter(from, to, counts, type, op, comm); });
}

extern "C" int MPI_Alltoall(const void* from, int sent, MPI_Datatype type, void* to, int count,
                            MPI_Datatype to_type, MPI_Comm comm) {
  return counted("alltoall", count, comm,
                 [&] { return PMPI_Alltoall(from, sent, type, to, count, to_type, comm); });
}

extern "C" int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return counted("bcast", count, comm, [&] { return PMPI_Bcast(data, count, type, root, comm); });
}

extern "C" int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                          int root, MPI_Comm comm) {
  return counted("reduce", count, comm,
                 [&] { return PMPI_Reduce(from, to, count, type, op, root, comm); });
}
