// What frameworks were seen to do with real models, or what their rules give on paper. Bytes in f32.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "collectives/bucket.hpp"

namespace collmark {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

std::vector<std::int64_t> sizes(std::string_view policy, std::string_view model,
                                const BucketConfig& config = {}) {
  std::vector<std::int64_t> bytes;
  for (const Bucket& b : plan_buckets(bucket_policy(policy), load_model(model).tensors, config))
    bytes.push_back(b.bytes().value);
  return bytes;
}

// The sizes that a PyTorch user logged: github.com/pytorch/pytorch/issues/48880.
TEST(BucketPolicy, Ddp_ResNet18_IsWhatAPyTorchUserLogged) {
  EXPECT_THAT(sizes("ddp", "resnet18"), ElementsAre(2'052'000, 28'852'224, 15'853'824));
  EXPECT_THAT(sizes("ddp", "resnet18", {.cap = Bytes{35 * kMiB}}),
              ElementsAre(2'052'000, 38'297'600, 6'408'448));
}

// ResNet-50 backwards: fc is 1000 + 2048 x 1000 elements = 8,196,000 bytes, past 1 MiB, closed. The
// cap of 26,214,400 bytes is then passed by layer4.1.conv1 (31,502,336), and so on.
TEST(BucketPolicy, Ddp_ResNet50_StartsWithASmallBucket) {
  EXPECT_THAT(sizes("ddp", "resnet50"),
              ElementsAre(8'196'000, 31'502'336, 26'255'360, 26'550'272, 9'724'160));
}

TEST(BucketPolicy, DdpExplicitCap_ResNet50_HasNoSmallFirstBucket) {
  EXPECT_THAT(sizes("ddp_explicit_cap", "resnet50", {.cap = Bytes{25 * kMiB}}),
              ElementsAre(30'257'056, 26'255'360, 28'366'848, 17'348'864));
}

TEST(BucketPolicy, Ddp_Vgg16_AddsTheTensorBeforeItCloses) {
  EXPECT_THAT(sizes("ddp", "vgg16"),
              ElementsAre(16'388'000, 67'125'248, 411'058'176, 28'317'696, 28'319'744, 2'221'312));
}

TEST(BucketPolicy, Ddp_BertBase_IsOneBucketPerLayer) {
  std::vector<std::int64_t> expected(12, 28'351'488);
  expected.insert(expected.begin(), 2'362'368);
  expected.push_back(95'348'736);
  EXPECT_THAT(sizes("ddp", "bert-base"), ElementsAreArray(expected));
}

TEST(BucketPolicy, Ddp_NumberOfBuckets_FallsWithTheCapUntilTheLargestTensorsDecide) {
  const std::map<std::string, std::vector<std::size_t>> expected{
      {"resnet50", {35, 13, 9, 5, 3, 2, 2}},
      {"bert-large", {147, 98, 74, 38, 22, 13, 7}},
      {"gpt2-xl", {194, 194, 145, 145, 73, 49, 26}}};
  for (const auto& [model, numbers] : expected) {
    std::vector<std::size_t> got;
    for (const std::int64_t mib : {1, 5, 10, 25, 50, 100, 200})
      got.push_back(sizes("ddp", model, {.cap = Bytes{mib * kMiB}}).size());
    EXPECT_EQ(got, numbers) << model;
  }
}

// Registration order: 12,410,784 is the last bucket filled (what remains at the end of the list),
// the 1 MiB bucket of the first layers, 1,623,296, is sent last.
TEST(BucketPolicy, DdpFindUnused_ResNet50_SendsTheSmallBucketLast) {
  EXPECT_THAT(sizes("ddp_find_unused", "resnet50"),
              ElementsAre(12'410'784, 31'502'336, 29'669'376, 27'022'336, 1'623'296));
}

// Backwards: classifier 6, 3 and 0.bias make 83,529,632 bytes; 0.weight (411,041,792) misfits and
// is passed over; of the 58,858,752 bytes of features, all fit but 8,257,536.
TEST(BucketPolicy, Horovod_Vgg16_LooksPastTheHugeTensor) {
  EXPECT_THAT(sizes("horovod", "vgg16"), ElementsAre(134'130'848, 411'041'792, 8'257'536));
}

// As above, but 83,529,632 + 411,041,792 passed over > 128 MiB, so the look-ahead ends there; then
// 0.weight alone is over the threshold; then all features.
TEST(BucketPolicy, HorovodBounded_Vgg16_StopsAtTheHugeTensor) {
  EXPECT_THAT(sizes("horovod_bounded", "vgg16"), ElementsAre(83'529'632, 411'041'792, 58'858'752));
}

// Backwards, 40e6 elements are first passed by classifier.0.weight: all of the classifier,
// 123,642,856 elements; then all features, 14,714,688.
TEST(BucketPolicy, Megatron_Vgg16_CountsElementsAndHasNoSmallFirstBucket) {
  EXPECT_THAT(sizes("megatron", "vgg16", {.ranks = 2}), ElementsAre(494'571'424, 58'858'752));
  EXPECT_THAT(sizes("megatron", "vgg16", {.ranks = 40}), ElementsAre(494'571'424, 58'858'752));
}

// At 124 ranks the default is 124e6 elements, more than the classifier's 123,642,856: features.28
// and .26 biases and .28 weight join (2,359,296 + 512 -> 126,002,664 >= 124e6 after
// features.28.weight).
TEST(BucketPolicy, Megatron_DefaultGrowsWithTheRanks) {
  EXPECT_THAT(sizes("megatron", "vgg16", {.ranks = 124}),
              ElementsAre(4 * 126'002'664, 4 * (14'714'688 - 2'359'808)));
}

// 138,357,544 elements are below 5e8.
TEST(BucketPolicy, Deepspeed_Vgg16_IsOneBucket) {
  EXPECT_THAT(sizes("deepspeed", "vgg16"), ElementsAre(553'430'176));
}

// Cap 20e6 elements, backwards: 6.bias, 6.weight (4,097,000) + 3.bias = 4,101,096; 3.weight
// (16,777,216) would pass 20e6: flush. 3.weight + 0.bias = 16,781,312; 0.weight would pass: flush.
// 0.weight, oversize, alone: the next tensor flushes it. All features: 14,714,688.
TEST(BucketPolicy, Deepspeed_FlushesBeforeATensorThatWouldExceed) {
  EXPECT_THAT(sizes("deepspeed", "vgg16", {.cap = Bytes{80'000'000}}),
              ElementsAre(4 * 4'101'096, 4 * 16'781'312, 4 * 102'760'448, 4 * 14'714'688));
}

// Registration order, 64 MiB = 67,108,864 bytes. All features, 58,858,752, are below;
// classifier.0.weight (411,041,792) passes: 469,900,544. 0.bias + 3.weight = 16,384 + 67,108,864 =
// 67,125,248 passes. What remains: 16,384 + 16,384,000 + 4,000 = 16,404,384. Sent last first.
TEST(BucketPolicy, MindsporeAuto_Vgg16_ClosesAbove64MiB) {
  const auto expected = ElementsAre(16'404'384, 67'125'248, 469'900'544);
  EXPECT_THAT(sizes("mindspore_auto", "vgg16"), expected);
  EXPECT_THAT(sizes("mindspore_size", "vgg16"), expected);
}

// 448 MiB = 469,762,048: below the first 469,900,544 bytes as before. 449 MiB = 470,810,624: 0.bias
// (469,916,928) stays below too, 3.weight passes: 537,025,792.
TEST(BucketPolicy, MindsporeSize_Vgg16_FollowsItsCap) {
  EXPECT_THAT(sizes("mindspore_size", "vgg16", {.cap = Bytes{448 * kMiB}}),
              ElementsAre(83'529'632, 469'900'544));
  EXPECT_THAT(sizes("mindspore_size", "vgg16", {.cap = Bytes{449 * kMiB}}),
              ElementsAre(16'404'384, 537'025'792));
}

// Tensors 0..25 are the features, 58,858,752 bytes; 26..31 the classifier, 494,571,424. An index is
// the last of its bucket, so a split after the last tensor (31) adds none. Without splits: one
// fusion id.
TEST(BucketPolicy, MindsporeIndex_Vgg16_SplitsAfterTheGivenTensors) {
  EXPECT_THAT(sizes("mindspore_index", "vgg16", {.split_after = {25}}),
              ElementsAre(494'571'424, 58'858'752));
  EXPECT_THAT(sizes("mindspore_index", "vgg16", {.split_after = {25, 31}}),
              ElementsAre(494'571'424, 58'858'752));
  EXPECT_THAT(sizes("mindspore_index", "vgg16"), ElementsAre(553'430'176));
}

// 161 tensors; beyond one part of 4,096,000 bytes each: the three 3x3 convolutions of layer4
// (9,437,184 bytes, 3 parts, +2 each), layer4.0.downsample (8,388,608, 3 parts, +2), the five 1x1
// convolutions of layer4 with 4,194,304 bytes (2 parts, +1 each), fc.weight (8,192,000, exactly 2
// parts, +1): 175.
TEST(BucketPolicy, Byteps_ResNet50_Is175Parts) {
  const auto parts = sizes("byteps", "resnet50");
  EXPECT_EQ(parts.size(), 175U);
  EXPECT_THAT(parts, Each(testing::Le(4'096'000)));
  EXPECT_EQ(parts.front(), 37'632) << "front layers first: conv1.weight, 64 x 3 x 7 x 7 elements";
}

// One message per tensor in registration order; ResNet-50 has 161, BERT-large 391, GPT-2 XL 580.
TEST(BucketPolicy, PerTensor_IsOneMessagePerTensorInRegistrationOrder) {
  const auto resnet50 = sizes("per_tensor", "resnet50");
  EXPECT_EQ(resnet50.size(), 161U);
  EXPECT_EQ(resnet50.front(), 37'632) << "conv1.weight";
  EXPECT_EQ(resnet50.back(), 4'000) << "fc.bias";
  EXPECT_EQ(sizes("per_tensor", "bert-large").size(), 391U);
  EXPECT_EQ(sizes("per_tensor", "gpt2-xl").size(), 580U);
}

// 25,557,032 parameters of 4 bytes.
TEST(BucketPolicy, Single_ResNet50_IsOneMessageOfAllBytes) {
  EXPECT_THAT(sizes("single", "resnet50"), ElementsAre(102'228'128));
}

}  // namespace
}  // namespace collmark
