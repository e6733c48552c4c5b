/// What lies between two cores: how long a flag takes, how fast one reads what the other has
/// written. On a shared host both change by a factor of several from minute to minute, and every
/// small message with them.
#pragma once

#include <optional>
#include <vector>

#include "collectives/cost.hpp"
#include "collectives/units.hpp"

namespace collmark {

struct CorePair {
  int first = 0;
  int second = 1;
};

/// One way: half of the median round trip. Both cores spin for about 0.5 ms.
[[nodiscard]] Seconds flag_time(CorePair cores);

/// Between the first two cores that this process may use; empty if there is one.
[[nodiscard]] std::optional<Seconds> flag_time_between_ranks(const std::vector<int>& cores);

/// `second` copies what `first` has just written into a buffer of its own: median time of one copy.
[[nodiscard]] Seconds copy_time(CorePair cores, Bytes size);

inline constexpr Bytes kModelCopy{1 << 20};  // of the model's beta

/// One f32 sum of 256 KiB in cache [s/B].
[[nodiscard]] double reduction_cost();

/// alpha: flag time. beta: a copy of 1 MiB. gamma: one f32 sum of 256 KiB in cache. A rough guide:
/// each of the three has another value for every size and cache state.
[[nodiscard]] LinkCost measure_link_cost(CorePair cores);

}  // namespace collmark
