/// The ranks of an MPI job on several hosts, as measurement sees them.
#pragma once

#include "bench/mpi/mpi_team.hpp"

namespace collmark {

/// Hosts share no clock and no memory: ranks start together by leaving a dissemination barrier (Hensgen,
/// Finkel, Manber 1988) of messages without data, ours and not the library's, which must not time its own
/// start. No start is called late, since no time was agreed on.
class NetworkTeam final : public MpiTeam {
 public:
  /// Called by all members of `comm`; uses a message space of its own.
  explicit NetworkTeam(const Communicator& comm);

  void barrier() override;
  [[nodiscard]] Start start_together() override;
};

}  // namespace collmark
