#include "bench/step_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collmark {
namespace {

using testing::ElementsAre;

// f32 3 | bf16 10 | f32 5 | f32 7, fused backwards at 40 bytes: [7] [5 3] [bf16 10].
const std::vector<Tensor> kTensors{{.name = "a", .count = {3}},
                                   {.name = "b", .count = {10}, .dtype = Dtype::bf16},
                                   {.name = "c", .count = {5}},
                                   {.name = "d", .count = {7}}};

StepLayout laid_out(std::string_view policy, Staging staging) {
  const auto buckets = plan_buckets(bucket_policy(policy), kTensors, {.cap = Bytes{40}});
  return lay_out(kTensors, buckets, staging);
}

TEST(StepLayout, EachDtypeHasAnArenaInRegistrationOrder) {
  const StepLayout layout = laid_out("deepspeed", Staging::own_buffers);
  ASSERT_EQ(layout.arenas.size(), 2U);
  EXPECT_EQ(layout.arenas[0].count, Elements{15});
  EXPECT_EQ(layout.arenas[1].count, Elements{10});
  EXPECT_THAT(layout.arena_of, ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(layout.offset_of, ElementsAre(Elements{0}, Elements{0}, Elements{3}, Elements{8}));
  EXPECT_EQ(layout.gradient_bytes(), Bytes{15 * 4 + 10 * 2});
}

TEST(StepLayout, OwnBuffers_CostTheModelOnceMore) {
  EXPECT_THAT(laid_out("deepspeed", Staging::own_buffers).buffers,
              ElementsAre(Bytes{28}, Bytes{32}, Bytes{20}));
}

TEST(StepLayout, FusionBuffer_IsAsLargeAsTheLargestFusedBucket_LoneTensorsStay) {
  const StepLayout layout = laid_out("deepspeed", Staging::fusion_buffer);
  EXPECT_THAT(layout.buffers, ElementsAre(Bytes{32}));
  EXPECT_FALSE(layout.places[0].buffer) << "d travels alone";
  EXPECT_EQ(layout.places[0].offset, Elements{8});
  EXPECT_TRUE(layout.places[1].buffer) << "c and a are fused";
  EXPECT_FALSE(layout.places[2].buffer) << "b travels alone";
  EXPECT_TRUE(
      lay_out(kTensors, plan_buckets(bucket_policy("per_tensor"), kTensors), Staging::fusion_buffer)
          .buffers.empty());
}

}  // namespace
}  // namespace collmark
