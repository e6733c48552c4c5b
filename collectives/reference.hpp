/// The sequential interpreter: the bits that every executor must reproduce.
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/schedule.hpp"
#include "collectives/units.hpp"

namespace collmark {

using ByteBuffer = std::vector<std::byte>;

/// What an operation computes on.
struct Payload {
  Elements count;
  Dtype dtype = Dtype::f32;
  ReduceOp op = ReduceOp::sum;

  [[nodiscard]] Bytes size() const {
    return {count.value * static_cast<std::int64_t>(size_of(dtype))};
  }
};

/// Runs `s` step by step on one buffer per rank (count elements each) and returns one output buffer
/// per rank. Chunks that the collective does not owe keep whatever the schedule left there. f16 and
/// bf16 are reduced through f32, rounded to nearest even at every reduction. avg is the sum, then
/// one division by the number of contributors in f32 (f64 for f64, truncating on integers), on the
/// owed chunks.
[[nodiscard]] std::vector<ByteBuffer> reference(const Schedule& s, const Payload& payload,
                                                const std::vector<ByteBuffer>& inputs);

}  // namespace collmark
