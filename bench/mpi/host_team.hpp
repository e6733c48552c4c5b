/// The ranks of an MPI job on one host, as measurement sees them.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/mpi/mpi_team.hpp"
#include "collectives/team.hpp"

namespace collmark {

/// Ranks start together through a dissemination barrier of our own in a shared-memory window, as the threads
/// do: the library under test must not time its own start. Every rank must be on this host.
class HostTeam final : public MpiTeam {
 public:
  /// Called by all ranks of `world`.
  ///   Throws   Error{usage} if they are on several hosts.
  explicit HostTeam(MPI_Comm world);
  ~HostTeam() override;

  void barrier() override;
  [[nodiscard]] Start start_together() override;

  /// Not every rank can have a core to itself among those that it may run on: some take turns. The same at all ranks.
  [[nodiscard]] bool crowded() const { return crowded_; }

  /// One-way time of a flag between ranks 0 and 1 [ns], the median of a few hundred round trips; all ranks
  /// call it, rank 0 gets the number. 0 with one rank.
  [[nodiscard]] double flag_ns();

 private:
  void await(Counter& counter, std::uint64_t value) const;

  MPI_Win window_ = MPI_WIN_NULL;
  int spins_ = 20'000;       // before the core is given away
  bool crowded_ = false;     // more ranks than cores
  std::uint64_t epoch_ = 0;  // barriers entered
  std::uint64_t flags_ = 0;  // flag round trips done
  // [rank]: a counter for each round of the barrier, one for flag_ns, one for the agreed start.
  std::vector<Counter*> arrived_;
};

}  // namespace collmark
