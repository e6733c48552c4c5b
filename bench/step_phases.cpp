#include "bench/step_phases.hpp"

#include <algorithm>

#include "bench/statistics.hpp"

namespace collmark {
namespace {

/// The rank that took longest, in each reading.
std::vector<std::size_t> slowest_ranks(const Measurement& m) {
  std::vector<std::size_t> slowest;
  const auto ranks = static_cast<std::ptrdiff_t>(m.ranks);
  for (auto at = m.samples.begin(); at != m.samples.end(); at += ranks) {
    const auto longest = std::max_element(
        at, at + ranks, [](const Sample& a, const Sample& b) { return a.time < b.time; });
    slowest.push_back(static_cast<std::size_t>(longest - at));
  }
  return slowest;
}

/// The median over readings of one number of each.
template <class Of>
Seconds median_over(const std::vector<std::size_t>& slowest, Of of) {
  std::vector<double> values;
  for (std::size_t i = 0; i < slowest.size(); ++i)
    values.push_back(Seconds(of(slowest[i], i)).count());
  return Seconds{median(std::move(values))};
}

}  // namespace

MedianPhases phases_of(const Measurement& measurement, const StepTimes& times) {
  const std::vector<std::size_t> slowest = slowest_ranks(measurement);
  if (slowest.empty()) return {};
  MedianPhases phases;
  const auto sum_of = [&](Nanoseconds BucketTimes::*phase) {
    return median_over(slowest, [&](std::size_t rank, std::size_t i) {
      Nanoseconds sum{};
      for (std::size_t b = 0; b < times.buckets; ++b) sum += times.of(rank, i, b).*phase;
      return sum;
    });
  };
  phases.step = {sum_of(&BucketTimes::pack), sum_of(&BucketTimes::wire),
                 sum_of(&BucketTimes::unpack)};
  for (std::size_t b = 0; b < times.buckets; ++b) {
    const auto of_bucket = [&](Nanoseconds BucketTimes::*phase) {
      return median_over(
          slowest, [&](std::size_t rank, std::size_t i) { return times.of(rank, i, b).*phase; });
    };
    phases.of_bucket.push_back({of_bucket(&BucketTimes::pack), of_bucket(&BucketTimes::wire),
                                of_bucket(&BucketTimes::unpack)});
  }
  phases.tail = median_over(slowest, [&](std::size_t rank, std::size_t i) {
    return times.of(rank, i, times.buckets - 1).all();
  });
  return phases;
}

}  // namespace collmark
