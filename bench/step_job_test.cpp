#include "bench/step_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kCap = 4000;  // [bytes] so that every rule closes, splits and passes over

/// Sizes around the cap and one far above it; registration order.
std::vector<Tensor> small_network(Dtype dtype) {
  std::vector<Tensor> tensors;
  for (const std::int64_t n : {1, 999, 17, 1000, 64, 5001, 300, 3, 1001, 128})
    tensors.push_back({.name = "t" + std::to_string(tensors.size()), .count = {n}, .dtype = dtype});
  return tensors;
}

StepWork work_of(const BucketPolicy& policy, const std::vector<Tensor>& tensors,
                 const Schedule& schedule) {
  BucketConfig config;
  if (policy.unit != CapUnit::none) config.cap = Bytes{kCap};
  auto buckets = plan_buckets(policy, tensors, config);
  auto layout = lay_out(tensors, buckets, policy.staging);
  return {tensors, std::move(buckets), policy.mean, std::move(layout), schedule};
}

/// Every rank runs `steps` steps; returns how many gradients any rank found wrong.
std::int64_t wrong_after(ThreadTeam& team, StepJob& job, int steps) {
  std::atomic<std::int64_t> wrong{0};
  team.run([&](int rank) {
    StepOperation operation(job, rank);
    for (int i = 0; i < steps; ++i) {
      operation.rewrite_input();
      team.barrier(rank);
      operation.run();
      wrong += operation.check().wrong;
    }
    EXPECT_EQ(operation.times().size(),
              static_cast<std::size_t>(steps) * job.work().buckets.size());
  });
  return wrong;
}

TEST(StepJob, EveryPolicy_LeavesTheExactMeanInEveryGradient) {
  for (const BucketPolicy& policy : bucket_policies()) {
    for (const int ranks : {1, 2, 3}) {
      for (const char* algorithm : {"ring", "two_shot", "parameter_server"}) {
        ThreadTeam team(ranks);
        StepJob job(team, work_of(policy, small_network(Dtype::f32),
                                  build(Collective::all_reduce, algorithm, ranks)));
        EXPECT_EQ(wrong_after(team, job, 3), 0) << policy.name << ' ' << algorithm << ' ' << ranks;
      }
    }
  }
}

TEST(StepJob, MixedDtypesAndADedicatedServer_AreSummedOverTheWorkersOnly) {
  std::vector<Tensor> tensors = small_network(Dtype::f32);
  tensors[3].dtype = tensors[5].dtype = Dtype::bf16;
  tensors[6].dtype = Dtype::f64;
  for (const char* policy : {"ddp", "horovod"}) {
    ThreadTeam team(3);
    StepJob job(team, work_of(bucket_policy(policy), tensors,
                              build(Collective::all_reduce, "parameter_server_dedicated", 3)));
    EXPECT_EQ(job.work().divisor(), 2);
    EXPECT_EQ(wrong_after(team, job, 2), 0) << policy;
  }
}

TEST(StepJob, DtypesWithoutAnExactMeanBeforeTheSum_AreUnsupported) {
  ThreadTeam team(3);
  const auto job = [&](std::string_view policy) {
    return StepJob(team, work_of(bucket_policy(policy), small_network(Dtype::bf16),
                                 build(Collective::all_reduce, "ring", 3)));
  };
  EXPECT_THROW((void)job("ddp"), Unsupported);
  EXPECT_NO_THROW((void)job("horovod"));
}

// All ranks together send 2 (p - 1) K bytes per bucket, whatever the remainder of its chunks.
TEST(StepJob, BytesSent_AreTwiceEachBucketToAllOtherRanks) {
  ThreadTeam team(3);
  StepJob job(team, work_of(bucket_policy("ddp"), small_network(Dtype::f32),
                            build(Collective::all_reduce, "ring", 3)));
  EXPECT_EQ(wrong_after(team, job, 1), 0);
  for (std::size_t b = 0; b < job.work().buckets.size(); ++b) {
    Bytes sent{};
    for (int r = 0; r < 3; ++r) sent += job.executor(b).moved(r).sent;
    EXPECT_EQ(sent, job.work().buckets[b].bytes() * 4) << "bucket " << b;
  }
}

TEST(StepJob, OneWrongBit_IsFoundAndPlaced) {
  std::vector<Tensor> tensors = small_network(Dtype::f32);
  tensors[5].dtype = Dtype::f64;
  ThreadTeam team(2);
  StepJob job(team, work_of(bucket_policy("ddp_explicit_cap"), tensors,
                            build(Collective::all_reduce, "ring", 2)));
  EXPECT_EQ(wrong_after(team, job, 1), 0);
  const Piece first_f64{.tensor = 5, .offset = {7}, .count = {1}};
  *job.gradient(1, first_f64) ^= std::byte{1};
  const Check check = job.check(1, 1);
  EXPECT_EQ(check.wrong, 1);
  EXPECT_EQ(check.first.rank, 1);
  EXPECT_THAT(describe(job.work(), check), HasSubstr("tensor t5, element 7, bucket"));
  EXPECT_EQ(job.check(0, 1).wrong, 0);
  EXPECT_GT(job.check(0, 2).wrong, 10'000 / 2) << "what the last step left is wrong for the next";
}

}  // namespace
}  // namespace collmark
