/// The part of a plain sum that whole vectors cover. bench/CMakeLists.txt chooses the file for the CPU:
/// bench/vector_sum/x86.cpp or bench/vector_sum/portable.cpp.
#pragma once

#include <cstddef>
#include <span>

#include "collectives/reduce.hpp"

namespace collmark {

/// Elements [from, to).
struct Covered {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// Adds, in list order, as many of the first `count` floats of all sources as whole vectors cover, and
/// stores the sums to every destination. Says which: none where the CPU has no such vectors, or where
/// stores past the caches are wanted and destinations are not aligned alike. Ends with a store fence.
[[nodiscard]] Covered vector_sum(std::span<const float* const> sources,
                                 std::span<float* const> destinations, std::size_t count,
                                 Stores stores);

}  // namespace collmark
