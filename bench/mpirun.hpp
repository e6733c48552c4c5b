/// How this machine's mpirun is called. Its dialects differ: Open MPI (4.1, 5) and Hydra (MPICH, Intel MPI).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/child_process.hpp"

namespace collmark {

struct Mpirun {
  enum class Dialect { open_mpi, hydra };
  std::string path;  // empty: there is none
  Dialect dialect = Dialect::open_mpi;
};

/// The first on PATH that belongs to `library` ("MPICH 4.0.2", as mpi_library() says it; empty: any), by what it says of
/// itself; the first at all if none does. Debian keeps several side by side as mpirun.mpich and mpirun.openmpi.
[[nodiscard]] Mpirun find_mpirun(std::string_view library);

struct MpirunRequest {
  int ranks = 2;
  std::size_t cores =
      0;  // logical ones of this host, where all ranks will be; 0: some may be elsewhere
  std::size_t physical_cores = 0;  // that these are threads of
  std::string hostfile = {};       // empty: mpirun decides where
  std::string arguments = {};      // the user's own, as a shell would split them
};

/// Does a hostfile, the environment or a resource manager send ranks to other hosts?
[[nodiscard]] bool ranks_may_be_elsewhere(const std::string& hostfile);

/// `mpirun ... PROGRAM...`. On one host with a physical core for each rank, ranks are bound to these, with a logical
/// one for each to those; with fewer they are not bound and give way while they wait. Elsewhere the user or mpirun decides.
///   Throws   Error{usage} if a quote in the user's arguments is not closed.
[[nodiscard]] ChildCommand mpirun_command(const Mpirun& mpirun, const MpirunRequest& request,
                                          const std::vector<std::string>& program);

/// Words between blanks; quotes, single or double, keep blanks.  Throws Error{usage}.
[[nodiscard]] std::vector<std::string> shell_words(std::string_view text);

}  // namespace collmark
