/// What this machine's memory allows a fused two_shot all-reduce: the same reads and stores, but no
/// steps, no tiles and no waiting, in a plain loop that shares no code with our passes.
#pragma once

#include "collectives/reduce.hpp"
#include "collectives/units.hpp"

namespace collmark {

struct StreamOptions {
  Placement placement = Placement::out_of_place;
  Stores stores = Stores::streaming;  // in place the lines are cached by then: use Stores::cached
  int repetitions = 11;               // >= 1; the first one, which touches the memory, comes on top
};

struct StreamBound {
  Bytes moved = {};               // read and stored in one repetition, over all ranks
  Seconds time{};                 // the slowest rank's, median of the repetitions
  double bytes_per_second = 0.0;  // moved / time
};

/// Rank r of p adds slice r of every rank's input and stores the
/// sum into slice r of every rank's output, in one pass over `count` f32.
///
///   input of rank 0   |slice 0|slice 1|      rank 0 reads slice 0 of both inputs and stores
///   input of rank 1   |slice 0|slice 1|      slice 0 of both outputs: 2K/p x p bytes per rank
///
/// As many threads as there are ranks, or cores if those are fewer: a core then does the part of one of its ranks
/// after the other, and nobody has to be scheduled.
///
///   Moved    2 K p bytes over all ranks, K = 4 count: what the algorithm moves, too.
///   State    every rank rewrites its own input before each repetition, outside the timed part.
///   Throws   Error{usage} if ranks < 1, count < 1 or repetitions < 1.
[[nodiscard]] StreamBound stream_bound(int ranks, Elements count,
                                       const StreamOptions& options = {});

}  // namespace collmark
