/// What a training step's communication is made of, on any backend.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/operation.hpp"
#include "bench/step_layout.hpp"
#include "collectives/reference.hpp"
#include "collectives/schedule.hpp"

namespace collmark {

struct StepWork {
  std::vector<Tensor> tensors;
  std::vector<Bucket> buckets;
  Mean mean = Mean::after_sum;
  StepLayout layout;
  Schedule schedule;  // of one bucket; without steps if a library does it

  /// Of the mean: ranks that contribute.
  [[nodiscard]] int divisor() const { return schedule.ranks - schedule.servers; }
  /// The first of them; there is one at least.
  [[nodiscard]] std::size_t largest_bucket() const;
  /// What each packing, and each unpacking, divides by; 1: not at all.
  [[nodiscard]] int divisor_of(Mean when) const { return mean == when ? divisor() : 1; }
};

/// All gradients of an arena as one collective whose result they are, and how much larger than the formula's its
/// inputs are: for ExactData.
struct ArenaPayload {
  Payload payload;
  int times = 1;
};
[[nodiscard]] ArenaPayload payload_of(const StepWork& work, const StepLayout::Arena& arena);

/// Largest chunk of any bucket.
[[nodiscard]] Bytes largest_chunk(const StepWork& work);

/// Elements are numbered through all arenas, so that describe() can tell them apart: those of the arenas before.
[[nodiscard]] Elements elements_before(const StepWork& work, std::size_t arena);
/// What is wrong, one line: "wrong result: rank 1, tensor fc.bias, element 3, bucket 0: got ...".
[[nodiscard]] std::string describe(const StepWork& work, const Check& check);

}  // namespace collmark
