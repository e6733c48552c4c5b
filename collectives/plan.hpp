/// A schedule made ready for ranks that reach each other's memory: threads, shared windows, GPU peers.
///
/// The rank that owns a chunk pulls: it reads its peers' buffers in place and writes its own. Three things
/// are worked out here once, so that nothing but loads, stores and counters is left at run time:
///
///  fused verbs   All reduces into one chunk in one step are one pass. A copy whose source this rank has just
///                reduced is stored into the peer's buffer by that same pass (recv-reduce-copy-send), where
///                the peer's memory is free by then. The transfers stay the schedule's, each executed once.
///  places        A version that is contested is kept in scratch memory, so a step reads the state from
///                before the step without copying; in place, an input that is still being read while its
///                successor is due is saved first.
///  waits         Each action waits for the versions it reads and for the readers of what it overwrites, as
///                "peer p has done n actions". What follows from earlier waits is left out.
#pragma once

#include <vector>

#include "collectives/dataflow.hpp"
#include "collectives/places.hpp"
#include "collectives/schedule.hpp"

namespace collmark {

struct Location {
  int rank = 0;
  int chunk = 0;
  Place place = Place::input;
  friend bool operator==(const Location&, const Location&) = default;
};

/// Until `peer` has done `actions` actions of this operation; 0: has entered it, so its input is there.
struct Wait {
  int peer = 0;
  int actions = 0;
};

/// One pass over a chunk: sources combined in order, stored to all destinations. No source: signals only.
struct Action {
  int step = 0;  // of the schedule, for messages
  std::vector<Location> sources;
  std::vector<Location> destinations;
  std::vector<Wait> waits;
  std::vector<Edge> edges;
  bool announced = false;  // some peer waits for it
  bool unread = false;  // what it writes is read by nobody in this operation: may bypass the caches
};

struct RankPlan {
  std::vector<Action> actions;
  std::vector<Wait> leave;  // before returning: my output is complete, nobody reads my buffers
  bool uses_scratch = false;
  bool uses_spare = false;
};

struct Plan {
  Placement placement = Placement::out_of_place;
  std::vector<RankPlan> ranks;
};

/// Throws Error{usage} for a transfer outside of the schedule's ranks or chunks.
[[nodiscard]] Plan plan(const Schedule& s, Placement placement);

}  // namespace collmark
