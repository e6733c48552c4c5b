#include "bench/threads_step_backend.hpp"

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
  ThreadsStepBackend backend({.timeout = timeout});
  return backend.run(c);
}

TEST(ThreadsStepBackend, ResNet18_PlansMovesAndTimesEveryBucket) {
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

TEST(ThreadsStepBackend, WhatCannotRun_IsSkippedWithItsReason) {
  StepCase c = quick("ddp", 3);
  c.algorithm = "swing";
  EXPECT_EQ(run(c).base.status, Status::skipped);
  EXPECT_FALSE(run(c).base.reason.empty());
}

TEST(ThreadsStepBackend, AWrongGradient_FailsAndIsNamed) {
  const Environment corrupt("COLLMARK_TEST_CORRUPT", "1");
  const StepResult result = run(quick("ddp", 2));
  EXPECT_EQ(result.base.status, Status::failed);
  EXPECT_THAT(result.base.reason, HasSubstr("rank 1, tensor fc.bias, element 0, bucket 0"));
}

TEST(ThreadsStepBackend, AnInterruptThatComesBeforeTheRanksStartIsNotLost) {
  ThreadsStepBackend backend({});
  backend.interrupt();
  try {
    (void)backend.run(quick("ddp", 2));
    FAIL() << "was not interrupted";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::interrupted);
  }
}

TEST(ThreadsStepBackend, ARankThatNeverArrives_EndsTheRun) {
  const Environment absent("COLLMARK_TEST_ABSENT_RANK", "1");
  try {
    (void)run(quick("ddp", 2), std::chrono::milliseconds(200));
    FAIL() << "did not notice";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::timed_out) << e.what();
  }
}

}  // namespace
}  // namespace collmark
