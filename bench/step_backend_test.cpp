#include "bench/step_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "collectives/error.hpp"

namespace collmark {
namespace {

using testing::HasSubstr;

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

StepCase quick(std::string_view policy, int ranks) {
  StepCase c{.model = std::make_shared<ModelList>(load_model("resnet18")),
             .policy = &bucket_policy(policy),
             .config = {.ranks = ranks}};
  c.measure.warmups = 1;
  c.measure.most_iterations = 3;
  return c;
}

StepResult run(const StepCase& c, std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
  StepBackend backend({.timeout = timeout});
  return backend.run(c);
}

TEST(StepBackend, ResNet18_PlansMovesAndTimesEveryBucket) {
  const StepResult result = run(quick("ddp", 2));
  ASSERT_EQ(result.base.status, Status::ok) << result.base.reason;
  ASSERT_EQ(result.buckets.size(), 3U);
  for (const BucketResult& bucket : result.buckets) {
    EXPECT_EQ(bucket.busiest, bucket.bucket.bytes()) << "2K(P-1)/P at P = 2";
    EXPECT_EQ(bucket.sent, bucket.bucket.bytes() * 2);
    EXPECT_GT(bucket.phases.wire.count(), 0);
  }
  EXPECT_EQ(result.base.wire_busiest, Bytes{46'758'048});
  EXPECT_EQ(result.gradients, Bytes{46'758'048});
  EXPECT_EQ(result.buffers, Bytes{46'758'048}) << "every bucket has its own buffer";
  const double parts = (result.phases.pack + result.phases.wire + result.phases.unpack).count();
  EXPECT_NEAR(parts, result.base.measurement.time.p50, 0.5 * parts);
  EXPECT_GT(result.tail.count(), 0);
}

TEST(StepBackend, WhatCannotRun_IsSkippedWithItsReason) {
  StepCase c = quick("ddp", 3);
  c.algorithm = "swing";
  EXPECT_EQ(run(c).base.status, Status::skipped);
  EXPECT_FALSE(run(c).base.reason.empty());
}

TEST(StepBackend, AWrongGradient_FailsAndIsNamed) {
  const Environment corrupt("COLLMARK_TEST_CORRUPT", "1");
  const StepResult result = run(quick("ddp", 2));
  EXPECT_EQ(result.base.status, Status::failed);
  EXPECT_THAT(result.base.reason, HasSubstr("rank 1, tensor fc.bias, element 0, bucket 0"));
}

TEST(StepBackend, AnInterruptThatComesBeforeTheRanksStartIsNotLost) {
  StepBackend backend({});
  backend.interrupt();
  try {
    (void)backend.run(quick("ddp", 2));
    FAIL() << "was not interrupted";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::interrupted);
  }
}

TEST(StepBackend, ARankThatNeverArrives_EndsTheRun) {
  const Environment absent("COLLMARK_TEST_ABSENT_RANK", "1");
  try {
    (void)run(quick("ddp", 2), std::chrono::milliseconds(200));
    FAIL() << "did not notice";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::timed_out) << e.what();
  }
}

// Two ranks, two readings, two buckets; rank 1 is slower in the first reading, rank 0 in the second.
TEST(StepPhases, AreThoseOfTheSlowestRankOfEachReading) {
  const auto ns = [](int n) { return Nanoseconds{n}; };
  StepResult result{.buckets = std::vector<BucketResult>(2)};
  result.base.measurement.ranks = 2;
  result.base.measurement.samples = {{ns(60)}, {ns(100)}, {ns(200)}, {ns(70)}};
  const BucketTimes never{ns(999), ns(999), ns(999)};  // the run before the timed ones
  const StepTimes times{
      .by_rank = {{never, never, never, never, {ns(20), ns(100), ns(30)}, {ns(8), ns(32), ns(10)}},
                  {never, never, {ns(10), ns(50), ns(10)}, {ns(4), ns(20), ns(6)}, never, never}},
      .buckets = 2,
      .first = 1};
  add_phases(result, times);
  const double tolerance = 1e-15;
  EXPECT_NEAR(result.phases.pack.count(), 21e-9, tolerance) << "median of 14 and 28";
  EXPECT_NEAR(result.phases.wire.count(), 101e-9, tolerance) << "of 70 and 132";
  EXPECT_NEAR(result.phases.unpack.count(), 28e-9, tolerance) << "of 16 and 40";
  EXPECT_NEAR(result.tail.count(), 40e-9, tolerance) << "of 30 and 50";
  EXPECT_NEAR(result.buckets[0].phases.wire.count(), 75e-9, tolerance) << "of 50 and 100";
}

}  // namespace
}  // namespace collmark
