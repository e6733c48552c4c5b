/// What a sweep comes to: algorithms side by side, tunings below each other.
#pragma once

#include <string>
#include <vector>

#include "bench/record.hpp"

namespace collmark {

/// Median times of all launches, a line per size and tuning that was asked for, and an algorithm per column. The fastest of a
/// size is marked only where that means something: more than two ranks, a core for each.
[[nodiscard]] std::string comparison(const std::vector<Record>& records);

}  // namespace collmark
