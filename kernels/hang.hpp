/// Whom a launch that gave up was waiting for.
#pragma once

#include <span>
#include <string>

#include "kernels/flag.hpp"

namespace collmark {

/// "rank 0 waited for rank 3 in step 2": from one block that waited along those it waited for, to a rank that waited for
/// nobody. Empty if no block gave up.
[[nodiscard]] std::string hang(std::span<const Stuck> blocks);

}  // namespace collmark
