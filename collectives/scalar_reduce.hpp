/// The arithmetic of reductions on one element after the other: what the vectorised passes must
/// reproduce bit for bit, and what `reference` is made of. Shares no code with them.
#pragma once

#include <cstddef>
#include <span>

#include "collectives/dtype.hpp"

namespace collmark {

/// into[i] = op(into[i], from[i]); avg adds. Equal sizes [bytes], a multiple of the element's; any
/// alignment. Rules of rounding, NaN, signed zero and overflow: see reduce.hpp.
///   Throws Error{broken} if the sizes differ.
void combine_scalar(Dtype dtype, ReduceOp op, std::span<std::byte> into,
                    std::span<const std::byte> from);

/// values[i] /= divisor >= 1, rounded once; truncating on integers.
void divide_scalar(Dtype dtype, std::span<std::byte> values, int divisor);

}  // namespace collmark
