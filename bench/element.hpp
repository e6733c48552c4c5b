/// Single elements of any dtype as numbers: for making and reporting values, never in a hot loop.
#pragma once

#include <cstddef>

#include "collectives/dtype.hpp"

namespace collmark {

/// `value` should be exactly representable: otherwise what is stored is the nearest.
void store_exact(double value, Dtype dtype, std::byte* to);
[[nodiscard]] double load(const std::byte* from, Dtype dtype);

}  // namespace collmark
