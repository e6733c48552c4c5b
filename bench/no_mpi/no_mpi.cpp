/// A build without MPI.
#include "bench/mpi_support.hpp"

namespace collmark {

std::string mpi_library() { return ""; }

std::vector<LibraryAlgorithm> library_algorithms(Collective) { return {}; }

void add_mpi_rank(CLI::App&, int&) {}

std::unique_ptr<MpiLaunch> join_mpi_job(const MpiJobOptions&) {
  throw Error(ErrorKind::absent, "not built into this version");
}

void follow_mpi_job(const MpiJobOptions&) {
  throw Error(ErrorKind::absent, "not built into this version");
}

}  // namespace collmark
