#include "collectives/mpi/communicator.hpp"

#include <fmt/format.h>

#include <array>

#include "collectives/error.hpp"

namespace collmark {

void check_mpi(int status, std::string_view call) {
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(status, text.data(), &length);
  throw Error(
      ErrorKind::lost,
      fmt::format("{}: {}", call, std::string_view(text.data(), static_cast<std::size_t>(length))));
}

Communicator::Communicator(MPI_Comm parent, int ranks) : ranks_(ranks) {
  int all = 0, mine = 0;
  check_mpi(MPI_Comm_size(parent, &all), "MPI_Comm_size");
  check_mpi(MPI_Comm_rank(parent, &mine), "MPI_Comm_rank");
  if (ranks < 1 || ranks > all)
    throw Error(ErrorKind::usage, fmt::format("{} ranks of a job of {}", ranks, all));
  const int color = mine < ranks ? 0 : MPI_UNDEFINED;
  check_mpi(MPI_Comm_split(parent, color, mine, &handle_), "MPI_Comm_split");
  if (!member()) return;
  // MPICH 4.0.2 hands the errors of several requests, as MPI_Testsome reports them, to that of all ranks.
  for (MPI_Comm comm : {handle_, MPI_COMM_WORLD})
    check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(handle_, &rank_), "MPI_Comm_rank");
}

Communicator::~Communicator() {
  if (member()) MPI_Comm_free(&handle_);
}

const Schedule& fitting(const Schedule& s, const Communicator& comm) {
  if (!comm.member() || s.ranks != comm.ranks())
    throw Error(
        ErrorKind::usage,
        fmt::format("a schedule for {} ranks on a communicator of {}, of which this process is {}",
                    s.ranks, comm.ranks(), comm.rank()));
  return s;
}

}  // namespace collmark
