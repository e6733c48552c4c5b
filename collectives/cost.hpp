/// What a schedule costs, counted from its transfers. One port per rank, full duplex.
#pragma once

#include <vector>

#include "collectives/partition.hpp"
#include "collectives/schedule.hpp"
#include "collectives/units.hpp"

namespace collmark {

/// alpha: seconds per message; beta: seconds per byte; gamma: seconds per byte reduced.
struct LinkCost {
  Seconds alpha{};
  double beta = 0.0;   // [s/B]
  double gamma = 0.0;  // [s/B]
};

struct RankCost {
  Bytes sent;
  Bytes received;
  Bytes reduced;
  int messages = 0;  // sent
};

struct Cost {
  int steps = 0;
  Bytes busiest;          // max over ranks of max(sent, received)
  Bytes busiest_reduced;  // max over ranks of bytes reduced
  int busiest_messages = 0;
  Bytes total;     // over all ranks, sent
  Seconds time{};  // sum over steps of the busiest port, plus gamma of the busiest reducer
  std::vector<RankCost> ranks;
};

/// Real chunk sizes, not K/P: exact for any count. Each run of equal traffic is walked, never
/// stored.
[[nodiscard]] Cost cost(const Schedule& s, Elements count, Dtype dtype, const LinkCost& link = {});

}  // namespace collmark
