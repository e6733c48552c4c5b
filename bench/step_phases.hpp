/// Where the time of a step goes.
#pragma once

#include <vector>

#include "bench/measure.hpp"

namespace collmark {

/// Where the time of one bucket goes, on one rank.
struct BucketTimes {
  Nanoseconds pack{};
  Nanoseconds wire{};  // with the wait for slower ranks
  Nanoseconds unpack{};
  [[nodiscard]] Nanoseconds all() const { return pack + wire + unpack; }
};

/// Medians over the timed steps, each step as its slowest rank saw it: pack + wire + unpack is that
/// rank's whole step.
struct StepPhases {
  Seconds pack{};
  Seconds wire{};  // with the wait for slower ranks
  Seconds unpack{};
};

/// What each rank recorded of each of its runs, bucket after bucket; the runs that were timed start
/// at `first`.
struct StepTimes {
  std::vector<std::vector<BucketTimes>> by_rank;
  std::size_t buckets = 1;
  std::size_t first = 0;

  [[nodiscard]] const BucketTimes& of(std::size_t rank, std::size_t reading,
                                      std::size_t bucket) const {
    return by_rank[rank][(first + reading) * buckets + bucket];
  }
};

/// Of the whole step, of its last bucket, and of each.
struct MedianPhases {
  StepPhases step = {};
  Seconds tail{};
  std::vector<StepPhases> of_bucket = {};  // empty if no step was timed
};
[[nodiscard]] MedianPhases phases_of(const Measurement& measurement, const StepTimes& times);

}  // namespace collmark
