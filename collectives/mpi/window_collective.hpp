/// The mpi executor within a host, without messages: ranks are processes that reach each other's buffers in a
/// shared-memory window, and run the plan that threads run.
#pragma once

#include <chrono>
#include <memory>

#include "collectives/mpi/communicator.hpp"
#include "collectives/plan_run.hpp"

namespace collmark {

struct WindowOptions {
  std::chrono::milliseconds timeout{30'000};  // of any single wait; then Error{timed_out}
  PlanOptions plan = {};
};

/// What an operation works on, wherever its buffers will be.
struct WindowData {
  Payload payload;
  Placement placement = Placement::in_place;
};

/// One rank's part of one collective operation. It brings the buffers itself, since they must lie in the window.
class WindowCollective {
 public:
  /// Called by all members of `comm`, with the same arguments.
  ///   Throws   Error{usage} if the schedule is for another number of ranks, or its transfers leave it;
  ///            Unsupported if the ranks are on several hosts.
  WindowCollective(const Communicator& comm, const Schedule& schedule, const WindowData& data,
                   const WindowOptions& options = {});
  ~WindowCollective();

  /// This rank's; zeroed, and for it to touch first.
  [[nodiscard]] RankBuffers buffers() const;

  /// Called by all ranks. On return this rank's output is final, its input may be rewritten, and out of place
  /// its input is as it was.
  ///   Throws   Error{timed_out}, with rank, step and peer of the one that all wait for in the end. Then the
  ///            job can only end: peers may still write into this rank's buffers.
  void run();

  /// Of the last operation. Called by all ranks together: each has moved some of the others' bytes.
  [[nodiscard]] Moved moved() const;
  /// Memory of this rank beyond its buffers.
  [[nodiscard]] Bytes scratch() const;

 private:
  struct State;
  std::unique_ptr<State> state_;  // stays where it is: what runs points into it
};

}  // namespace collmark
