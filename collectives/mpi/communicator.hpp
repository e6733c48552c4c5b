/// Some ranks of an MPI job, with a message space of their own.
#pragma once

#include <mpi.h>

#include <string_view>

#include "collectives/schedule.hpp"

namespace collmark {

/// Throws Error{lost} with the library's own words unless `status` is MPI_SUCCESS.
void check_mpi(int status, std::string_view call);

/// Owns a communicator whose errors are returned to the caller instead of ending the process.
class Communicator {
 public:
  /// Ranks [0, ranks) of `parent`, in that order; called by all ranks of `parent`. Ranks from `ranks` on get
  /// one that they are not a member of.
  ///   Throws   Error{usage} if `parent` has fewer ranks or `ranks` is below 1.
  Communicator(MPI_Comm parent, int ranks);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] bool member() const { return handle_ != MPI_COMM_NULL; }
  [[nodiscard]] int rank() const { return rank_; }  // -1: not a member
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] MPI_Comm handle() const { return handle_; }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
  int rank_ = -1;
  int ranks_;
};

/// `s` itself.  Throws Error{usage} if it is for another number of ranks than `comm` has.
[[nodiscard]] const Schedule& fitting(const Schedule& s, const Communicator& comm);

}  // namespace collmark
