/// One rank's part of a schedule: the transfers that begin or end at it, and the values that its chunks
/// ever hold. Memory grows with those alone.
#pragma once

#include <vector>

#include "collectives/dataflow.hpp"
#include "collectives/schedule.hpp"

namespace collmark {

struct OwnStep {
  int step = 0;
  std::vector<Transfer> transfers = {};  // in list order; never empty
};

/// Walks the schedule once.
///   Throws   Error{usage} for a transfer of anybody's outside of the schedule's ranks or chunks.
[[nodiscard]] std::vector<OwnStep> own_steps(const Schedule& s, int rank);

/// The versions of one rank's chunks. A peer that is sent a chunk is a reader of it like any other.
class OwnValues {
 public:
  OwnValues(const Schedule& s, int rank, const std::vector<OwnStep>& steps);

  /// Versions and their lives only, of one rank; readers are indices of steps.
  [[nodiscard]] const Dataflow& flow() const { return flow_; }

  /// In the step that reduces into it, only peers read it besides: whatever is received can wait until
  /// the old value has left, and the two may share their memory though it is contested.
  [[nodiscard]] bool leaves_in_time(int version) const {
    return leaves_in_time_[static_cast<std::size_t>(version)];
  }

 private:
  struct Use;
  void add(int chunk, const Use& use, int step);

  Dataflow flow_;
  std::vector<bool> leaves_in_time_;  // [version]
};

}  // namespace collmark
