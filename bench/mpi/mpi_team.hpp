/// What teams of MPI ranks have in common: a communicator of their own, and what goes round in it beside
/// the collectives.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "bench/team.hpp"
#include "collectives/mpi/communicator.hpp"

namespace collmark {

class MpiTeam : public Team {
 public:
  ~MpiTeam() override;
  MpiTeam(const MpiTeam&) = delete;
  MpiTeam& operator=(const MpiTeam&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return ranks_; }
  void broadcast(std::span<std::byte> bytes) override;
  [[nodiscard]] std::vector<std::byte> gather(std::span<const std::byte> mine) override;

 protected:
  /// Takes over `own`, which no one else may use or free.
  explicit MpiTeam(MPI_Comm own);
  [[nodiscard]] MPI_Comm handle() const { return comm_; }

 private:
  MPI_Comm comm_;
  int rank_ = 0;
  int ranks_ = 1;
};

}  // namespace collmark
