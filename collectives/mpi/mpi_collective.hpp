/// The mpi executor: ranks are MPI processes, on one host or many, and exchange messages.
#pragma once

#include "collectives/message_run.hpp"
#include "collectives/mpi/communicator.hpp"
#include "collectives/mpi/mpi_wire.hpp"

namespace collmark {

/// One rank's part of one collective operation, prepared: program, scratch and segments, ready to run many
/// times. Every member of the communicator makes its own, with the same schedule and payload.
class MpiCollective {
 public:
  ///   Throws   Error{usage} if the schedule is for another number of ranks, or its transfers leave it.
  MpiCollective(const Communicator& comm, const Schedule& schedule, const MessageData& data,
                const MessageOptions& options = {});

  /// Called by all ranks. On return this rank's output is final, its input may be rewritten, and out of place
  /// its input is as it was.
  ///   Throws   Error{timed_out} when nothing has come for options.timeout, with rank, peer and step;
  ///            Error{lost} with MPI's words; Error{interrupted}. Then the job can only end: peers still
  ///            wait for what this rank has not sent.
  void run() { run_.run(); }

  [[nodiscard]] Moved moved() const { return run_.moved(); }
  /// Memory of this rank beyond the caller's buffers; what MPI itself needs is not in it.
  [[nodiscard]] Bytes scratch() const { return run_.scratch(); }

 private:
  MpiWire wire_;
  MessageRun run_;
};

}  // namespace collmark
