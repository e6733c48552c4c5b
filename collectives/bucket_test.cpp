#include "collectives/bucket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "collectives/error.hpp"

namespace collmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

std::vector<Tensor> tensors(std::initializer_list<std::int64_t> counts) {
  std::vector<Tensor> list;
  for (const std::int64_t n : counts)
    list.push_back({.name = "t" + std::to_string(list.size()), .count = {n}});
  return list;
}

std::vector<std::int64_t> counts(std::string_view policy, const std::vector<Tensor>& list,
                                 const BucketConfig& config = {}) {
  std::vector<std::int64_t> elements;
  for (const Bucket& b : plan_buckets(bucket_policy(policy), list, config))
    elements.push_back(b.count.value);
  return elements;
}

std::string refusal(std::string_view policy, const std::vector<Tensor>& list,
                    const BucketConfig& config = {}) {
  try {
    (void)plan_buckets(bucket_policy(policy), list, config);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    return e.what();
  }
  return "accepted";
}

// --- Properties of every policy.

class EveryBucketPolicy : public testing::TestWithParam<const BucketPolicy*> {
 protected:
  const BucketPolicy& policy() const { return *GetParam(); }
  [[nodiscard]] BucketConfig small_cap() const {
    return {.cap = policy().unit == CapUnit::none ? std::optional<Bytes>{} : Bytes{300'000}};
  }
};

TEST_P(EveryBucketPolicy, CoversEachElementOnce_AndSplitsNoTensorButByteps) {
  for (const BuiltInModel& model : built_in_models()) {
    const ModelList list = load_model(model.name);
    for (const BucketConfig& config : {BucketConfig{}, small_cap()}) {
      std::map<int, std::int64_t> covered;  // tensor -> elements so far; pieces come in order
      for (const Bucket& bucket : plan_buckets(policy(), list.tensors, config)) {
        Elements sum{};
        for (const Piece& p : bucket.pieces) {
          EXPECT_EQ(p.offset.value, covered[p.tensor]) << model.name << " tensor " << p.tensor;
          covered[p.tensor] += p.count.value;
          sum += p.count;
        }
        EXPECT_EQ(sum, bucket.count);
        EXPECT_GT(bucket.count.value, 0);
      }
      for (std::size_t i = 0; i < list.tensors.size(); ++i)
        EXPECT_EQ(covered[static_cast<int>(i)], list.tensors[i].count.value) << model.name;
      if (policy().name == "byteps") continue;
      std::size_t pieces = 0;
      for (const Bucket& bucket : plan_buckets(policy(), list.tensors, config))
        pieces += bucket.pieces.size();
      EXPECT_EQ(pieces, list.tensors.size()) << model.name << ": a tensor was split";
    }
  }
}

TEST_P(EveryBucketPolicy, KeepsDtypesApart) {
  std::vector<Tensor> mixed = load_model("resnet18").tensors;
  for (std::size_t i = 0; i < mixed.size(); ++i)
    if (i % 3 == 1) mixed[i].dtype = Dtype::bf16;
  std::int64_t planned = 0;
  std::map<Dtype, int> buckets;
  for (const Bucket& bucket : plan_buckets(policy(), mixed, small_cap())) {
    for (const Piece& p : bucket.pieces)
      EXPECT_EQ(mixed[static_cast<std::size_t>(p.tensor)].dtype, bucket.dtype);
    planned += bucket.bytes().value;
    ++buckets[bucket.dtype];
  }
  EXPECT_EQ(planned, bytes_of(mixed).value);
  EXPECT_EQ(buckets.size(), 2U);
}

TEST_P(EveryBucketPolicy, OneTensor_IsOneBucket) {
  EXPECT_THAT(counts(policy().name, tensors({7})), ElementsAre(7));
}

TEST_P(EveryBucketPolicy, RefusesAnEmptyListAndAZeroCap) {
  EXPECT_THAT(refusal(policy().name, {}), HasSubstr("no tensors"));
  const std::string zero = refusal(policy().name, tensors({7}), {.cap = Bytes{0}});
  EXPECT_THAT(zero,
              HasSubstr(policy().unit == CapUnit::none ? "has no cap to set" : "at least one"));
}

INSTANTIATE_TEST_SUITE_P(Table, EveryBucketPolicy, testing::ValuesIn([] {
                           std::vector<const BucketPolicy*> all;
                           for (const BucketPolicy& p : bucket_policies()) all.push_back(&p);
                           return all;
                         }()),
                         [](const auto& entry) { return std::string(entry.param->name); });

// The tensors in the order in which their bytes leave, on a list of one dtype.
std::vector<int> order_of(std::string_view policy, const BucketConfig& config) {
  std::vector<int> order;
  for (const Bucket& bucket :
       plan_buckets(bucket_policy(policy), load_model("resnet18").tensors, config))
    for (const Piece& piece : bucket.pieces)
      if (order.empty() || order.back() != piece.tensor) order.push_back(piece.tensor);
  return order;
}

TEST(BucketPolicy, Order_IsBackwardOrRegistrationAsDocumented) {
  const BucketConfig small{.cap = Bytes{300'000}};
  std::vector<int> registration(62);  // ResNet-18 has 62 tensors
  std::iota(registration.begin(), registration.end(), 0);
  const std::vector<int> backward(registration.rbegin(), registration.rend());
  for (const char* policy : {"ddp", "ddp_explicit_cap", "megatron", "deepspeed"})
    EXPECT_EQ(order_of(policy, small), backward) << policy;
  EXPECT_EQ(order_of("byteps", small), registration);
  for (const char* policy : {"per_tensor", "single"})
    EXPECT_EQ(order_of(policy, {}), registration) << policy;
}

TEST(BucketPolicy, PlannedForwards_SentLastBucketFirst) {
  const BucketConfig ten{.cap = Bytes{40}};
  const auto list = tensors({6, 6, 6, 6, 6});
  const auto expect = [&](std::string_view policy, const BucketConfig& config) {
    std::vector<std::vector<int>> order;
    for (const Bucket& bucket : plan_buckets(bucket_policy(policy), list, config)) {
      order.emplace_back();
      for (const Piece& piece : bucket.pieces) order.back().push_back(piece.tensor);
    }
    EXPECT_THAT(order, ElementsAre(ElementsAre(4), ElementsAre(2, 3), ElementsAre(0, 1))) << policy;
  };
  expect("mindspore_size", ten);
  expect("mindspore_index", {.split_after = {1, 3}});
}

// --- Edges, on lists small enough to follow by hand. Caps in elements of 4 bytes.

TEST(BucketPolicy, AtExactlyTheLimit_DdpCloses_MindsporeDoesNot) {
  const BucketConfig ten{.cap = Bytes{40}};
  EXPECT_THAT(counts("ddp_explicit_cap", tensors({3, 6, 4}), ten), ElementsAre(10, 3));
  EXPECT_THAT(counts("megatron", tensors({3, 6, 4}), ten), ElementsAre(10, 3));
  EXPECT_THAT(counts("horovod", tensors({3, 6, 4}), ten), ElementsAre(10, 3));
  EXPECT_THAT(counts("deepspeed", tensors({3, 6, 4}), ten), ElementsAre(10, 3));
  EXPECT_THAT(counts("mindspore_size", tensors({4, 6, 3}), ten), ElementsAre(13));
  EXPECT_THAT(counts("byteps", tensors({10, 11}), ten), ElementsAre(10, 10, 1));
}

TEST(BucketPolicy, ATensorLargerThanTheCap_IsAloneOrLast_NeverCut) {
  const BucketConfig ten{.cap = Bytes{40}};
  EXPECT_THAT(counts("ddp_explicit_cap", tensors({2, 99, 3}), ten), ElementsAre(102, 2));
  EXPECT_THAT(counts("deepspeed", tensors({2, 99, 3}), ten), ElementsAre(3, 99, 2));
  EXPECT_THAT(counts("horovod", tensors({2, 99, 3}), ten), ElementsAre(5, 99));
  EXPECT_THAT(counts("horovod_bounded", tensors({2, 99, 3}), ten), ElementsAre(3, 99, 2));
}

TEST(BucketPolicy, Horovod_FusesInTheOrderTheTensorsWait) {
  const auto buckets =
      plan_buckets(bucket_policy("horovod"), tensors({2, 99, 3}), {.cap = Bytes{40}});
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_THAT(buckets[0].pieces, ElementsAre(Piece{.tensor = 2, .offset = {0}, .count = {3}},
                                             Piece{.tensor = 0, .offset = {0}, .count = {2}}));
}

TEST(BucketPolicy, Ddp_GivesEachDtypeItsOwnSmallFirstBucket) {
  std::vector<Tensor> list = tensors({1 << 20, 1 << 20, 1 << 20, 1 << 20});
  list[0].dtype = list[2].dtype = Dtype::f16;  // 2 MiB each, the others 4 MiB
  std::vector<std::int64_t> bytes;
  for (const Bucket& bucket : plan_buckets(bucket_policy("ddp"), list, {}))
    bytes.push_back(bucket.bytes().value);
  EXPECT_THAT(bytes, ElementsAre(4 * kMiB, 2 * kMiB, 4 * kMiB, 2 * kMiB));
}

TEST(BucketPolicy, Refusals_SayWhatWasExpected) {
  EXPECT_THAT(refusal("ddp", tensors({7}), {.cap = Bytes{3}}),
              HasSubstr("at least one f32 element"));
  EXPECT_THAT(refusal("ddp", tensors({7}), {.cap = Bytes{-4}}), HasSubstr("-4 bytes"));
  EXPECT_THAT(refusal("ddp", tensors({7}), {.ranks = 0}), HasSubstr("expected >= 1"));
  EXPECT_THAT(refusal("ddp", tensors({7}), {.split_after = {0}}), HasSubstr("mindspore_index"));
  EXPECT_THAT(refusal("mindspore_index", tensors({7}), {.split_after = {1}}), HasSubstr("0 to 0"));
  EXPECT_THAT(refusal("mindspore_index", tensors({7, 7}), {.split_after = {1, 1}}),
              HasSubstr("ascending"));
  try {
    (void)bucket_policy("horovodd");
    FAIL() << "accepted an unknown policy";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("did you mean 'horovod'?"));
  }
}

TEST(BucketPolicy, FlagsArePastedInTheFrameworksUnit) {
  const auto flag = [](std::string_view policy) {
    return flag_to_paste(bucket_policy(policy), Bytes{25 * kMiB}, Dtype::f32);
  };
  EXPECT_EQ(flag("ddp"), "bucket_cap_mb=25");
  EXPECT_EQ(flag("horovod"), "HOROVOD_FUSION_THRESHOLD=26214400");
  EXPECT_EQ(flag("megatron"), "--ddp-bucket-size 6553600");
  EXPECT_EQ(flag("deepspeed"), "\"reduce_bucket_size\": 6553600");
  EXPECT_EQ(flag("mindspore_size"),
            "comm_fusion={\"allreduce\": {\"mode\": \"size\", \"config\": 25}}");
  EXPECT_EQ(flag("mindspore_auto"),
            "comm_fusion={\"allreduce\": {\"mode\": \"auto\", \"config\": None}}");
  EXPECT_EQ(flag("byteps"), "BYTEPS_PARTITION_BYTES=26214400");
  EXPECT_EQ(flag("per_tensor"), "");
}

TEST(BucketPolicy, CapInForce_IsTheDefaultUnlessOneIsGiven) {
  EXPECT_EQ(cap_in_force(bucket_policy("megatron"), {.ranks = 64}, Dtype::f32),
            Bytes{4 * 64'000'000});
  EXPECT_EQ(cap_in_force(bucket_policy("deepspeed"), {.cap = Bytes{43}}, Dtype::f32), Bytes{40})
      << "whole elements";
  EXPECT_EQ(cap_in_force(bucket_policy("single"), {}, Dtype::f32), std::nullopt);
}

}  // namespace
}  // namespace collmark
