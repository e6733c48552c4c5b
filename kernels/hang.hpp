/// Whom a launch that gave up was waiting for.
#pragma once

#include <span>
#include <string>

#include "kernels/flag.hpp"

namespace collmark {

/// From one block that waited along those it waited for, to a rank that waited for nobody:
///
///     rank 0 waited for rank 3 in step 2: data in slot 1 on channel 0, flag 6 expected, 5 found
///
/// If each has waited for the next, and the last for the first, all of these: a circle, or some had come too late for others, who had
/// left. Empty if no block gave up. `slots` are those of a link.
[[nodiscard]] std::string hang(std::span<const Stuck> blocks, int slots);

}  // namespace collmark
