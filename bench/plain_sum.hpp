/// The loop that anybody would write for out0[i] = out1[i] = ... = in0[i] + in1[i] + ..., with stores that
/// bypass the caches where the CPU has them. The yardstick for our own passes: it shares no code with them.
#pragma once

#include <cstddef>
#include <span>

#include "collectives/reduce.hpp"

namespace collmark {

/// `count` floats of every source, added in list order, to every destination. Ends with a store fence.
void plain_sum(std::span<const float* const> sources, std::span<float* const> destinations,
               std::size_t count, Stores stores);

}  // namespace collmark
