/// A schedule in words and drawings that a student understands.
#pragma once

#include <string>

#include "collectives/schedule.hpp"

namespace collmark {

/// Up to here a step is drawn message by message, with what every rank holds after it. Larger
/// schedules are summed up, one line per stretch of steps with the same traffic.
inline constexpr int kMostDrawnRanks = 8;
inline constexpr int kMostDrawnChunks = 16;

/// What the collective does, then every step. Ends in a newline.
[[nodiscard]] std::string explain_steps(const Schedule& s);

/// One sentence: "every rank sends to the next; 1 of 4 chunks, added on arrival".
[[nodiscard]] std::string explain_step(const Schedule& s, int step);

}  // namespace collmark
