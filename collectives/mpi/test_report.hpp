/// What the test programs of the mpi executor have in common: claims, counted over all ranks.
#pragma once

#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <functional>
#include <string>

#include "collectives/error.hpp"
#include "collectives/mpi/communicator.hpp"

namespace collmark {

/// What one rank has checked so far.
class Report {
 public:
  explicit Report(int rank) : rank_(rank) {}

  void expect(bool claim, const std::string& what) {
    ++claims_;
    if (claim) return;
    ++faults_;
    fmt::print(stderr, "rank {}: {}\n", rank_, what);
  }

  /// `action` must throw an Error of this kind that says `words`.
  void expect_error(ErrorKind kind, const std::string& words, const std::function<void()>& action) {
    try {
      action();
      expect(false, fmt::format("no error that says '{}'", words));
    } catch (const Error& e) {
      const std::string what = e.what();
      expect(e.kind() == kind && what.find(words) != std::string::npos,
             fmt::format("'{}' where '{}' was expected", what, words));
    }
  }

  /// Called by all ranks: 0 if they have made at least so many claims and all hold.
  [[nodiscard]] int verdict(int least) const {
    int ranks = 1, sums[2] = {claims_, faults_};
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank_ == 0) fmt::print("{} ranks: {} claims, {} faults\n", ranks, sums[0], sums[1]);
    return sums[0] >= least && sums[1] == 0 ? 0 : 1;
  }

 private:
  int rank_;
  int claims_ = 0, faults_ = 0;
};

/// On a communicator of its own: some tests leave it unusable.
inline void run(int ranks, void (*test)(const Communicator&, Report&), Report& report) {
  const Communicator comm(MPI_COMM_WORLD, ranks);
  if (comm.member()) test(comm, report);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// MPI_Init to MPI_Finalize round `tests`, which is called with this rank and the number of ranks.
inline int test_program(const std::function<int(int rank, int ranks)>& tests) {
  MPI_Init(nullptr, nullptr);
  int rank = 0, ranks = 1, status = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    status = tests(rank, ranks);
  } catch (const std::exception& e) {
    fmt::print(stderr, "rank {}: {}\n", rank, e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}

}  // namespace collmark
