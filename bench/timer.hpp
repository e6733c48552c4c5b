/// What the clock of this host can resolve.
#pragma once

#include "collectives/units.hpp"

namespace collmark {

struct Timer {
  Seconds tick{};  // smallest difference seen between two readings that differ
  Seconds call{};  // what one reading costs
};

/// Takes about a millisecond.
[[nodiscard]] Timer measure_timer();

}  // namespace collmark
