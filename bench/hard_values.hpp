/// Inputs that no order of operations and no rounding but the documented one gives the same bits for: what exact_data.hpp
/// cannot tell apart. Beside them what arithmetic likes to get wrong.
///
///   of 16 positions   every rank holds there
///     10              a number of 1/4 to 8 with a random mantissa: sums and products round at every operation
///      2              a subnormal number, so that their sum is one, too
///      1              rank i mod p a subnormal, the others numbers: a product that is subnormal
///      1              0 or -0
///      1              a number, and one or two ranks an infinity or the largest number of either sign
///      1              a number, and one rank a NaN of any sign and payload
///
/// Integers are random bits.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/reference.hpp"

namespace collmark {

/// [rank]; the same for the same seed.
[[nodiscard]] std::vector<ByteBuffer> hard_inputs(int ranks, const Payload& payload,
                                                  std::uint64_t seed);

}  // namespace collmark
