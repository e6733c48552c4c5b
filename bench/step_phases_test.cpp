#include "bench/step_phases.hpp"

#include <gtest/gtest.h>

namespace collmark {
namespace {

// Two ranks, two readings, two buckets; rank 1 is slower in the first reading, rank 0 in the second.
TEST(StepPhases, AreThoseOfTheSlowestRankOfEachReading) {
  const auto ns = [](int n) { return Nanoseconds{n}; };
  Measurement measurement;
  measurement.ranks = 2;
  measurement.samples = {{ns(60)}, {ns(100)}, {ns(200)}, {ns(70)}};
  const BucketTimes never{ns(999), ns(999), ns(999)};  // the run before the timed ones
  const StepTimes times{
      .by_rank = {{never, never, never, never, {ns(20), ns(100), ns(30)}, {ns(8), ns(32), ns(10)}},
                  {never, never, {ns(10), ns(50), ns(10)}, {ns(4), ns(20), ns(6)}, never, never}},
      .buckets = 2,
      .first = 1};
  const MedianPhases phases = phases_of(measurement, times);
  const double tolerance = 1e-15;
  EXPECT_NEAR(phases.step.pack.count(), 21e-9, tolerance) << "median of 14 and 28";
  EXPECT_NEAR(phases.step.wire.count(), 101e-9, tolerance) << "of 70 and 132";
  EXPECT_NEAR(phases.step.unpack.count(), 28e-9, tolerance) << "of 16 and 40";
  EXPECT_NEAR(phases.tail.count(), 40e-9, tolerance) << "of 30 and 50";
  EXPECT_NEAR(phases.of_bucket[0].wire.count(), 75e-9, tolerance) << "of 50 and 100";
}

TEST(StepPhases, OfNoReadingAreNone) {
  EXPECT_TRUE(phases_of(Measurement{}, {}).of_bucket.empty());
}

}  // namespace
}  // namespace collmark
