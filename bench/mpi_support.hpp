/// What this build can do with MPI. Two sources implement it and the build takes one of them: bench/mpi/ where
/// there is an MPI library, bench/no_mpi/ where there is none.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bench/library_name.hpp"
#include "bench/mpi_launch.hpp"

namespace collmark {

/// "Open MPI 4.1.4"; empty without MPI.
[[nodiscard]] std::string mpi_library();

/// Those that the library can be made to use for this collective, in its own order; empty if it cannot be made to.
/// Local: nothing is started, and MPI_Init need not have been called.
[[nodiscard]] std::vector<LibraryAlgorithm> library_algorithms(Collective collective);

/// `collmark mpi-rank`: what mpirun starts on behalf of a sweep. Not for people; it is not in the help.
void add_mpi_rank(CLI::App& app, int& status);

/// Makes this process rank 0 of the job that a launcher started.
///   Throws   Error{absent} if MPI sees another job than the launcher has announced.
[[nodiscard]] std::unique_ptr<MpiLaunch> join_mpi_job(const MpiJobOptions& options);

/// Makes this process one of the other ranks, until rank 0 ends the job.  Throws as join_mpi_job.
void follow_mpi_job(const MpiJobOptions& options);

}  // namespace collmark
