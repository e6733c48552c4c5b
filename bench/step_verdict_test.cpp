#include "bench/step_verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

StepPoint point(std::int64_t mib, double ms, std::string policy = "ddp",
                std::string algorithm = "ring", int ranks = 2) {
  return {.model = "resnet50",
          .policy = std::move(policy),
          .cap = Bytes{mib * kMiB},
          .algorithm = std::move(algorithm),
          .ranks = ranks,
          .step = Seconds{ms * 1e-3},
          .buckets = mib > 0 ? static_cast<int>(256 / mib) : 1};
}

TEST(StepVerdict, Plateau_IsTheNeighboursWithin5Percent) {
  const std::vector<StepPoint> points{point(32, 104.9), point(1, 130),  point(4, 104),
                                      point(8, 100),    point(2, 106),  point(64, 106),
                                      point(16, 103),   point(128, 101)};
  const CapChoice choice = choose_cap(points);
  EXPECT_EQ(choice.best.cap, Bytes{8 * kMiB});
  EXPECT_EQ(choice.low, Bytes{4 * kMiB});
  EXPECT_EQ(choice.high, Bytes{32 * kMiB}) << "128 MiB is as good, but 64 MiB between is not";
  EXPECT_EQ(choice.tried, 8U);
}

TEST(StepVerdict, TheSentenceNamesCapPlateauAndFlag) {
  const std::vector<StepPoint> points{point(8, 50), point(16, 41.2), point(25, 42), point(64, 60)};
  EXPECT_THAT(
      verdicts(points, Dtype::f32),
      ElementsAre("resnet50, ddp, ring, 2 ranks: best cap 16 MiB, 41.2 ms a step; 16 MiB to 25 MiB "
                  "are within 5 %. Set bucket_cap_mb=16."));
}

TEST(StepVerdict, LaunchesOfACap_CountAsTheirMedian) {
  const std::vector<StepPoint> points{point(8, 10),  point(16, 40), point(8, 90),
                                      point(16, 41), point(8, 80),  point(16, 42)};
  const CapChoice choice = choose_cap(points);
  EXPECT_EQ(choice.best.cap, Bytes{16 * kMiB});
  EXPECT_DOUBLE_EQ(choice.best.step.count(), 41e-3);
  EXPECT_EQ(choice.tried, 2U);
}

TEST(StepVerdict, TuningsAreSeriesOfTheirOwn_NamedWhereThereAreSeveral) {
  std::vector<StepPoint> points{point(8, 50), point(16, 40), point(8, 30), point(16, 20)};
  for (StepPoint& p : points) p.tuning = "threads=256";
  EXPECT_THAT(verdicts(points, Dtype::f32),
              ElementsAre(StartsWith("resnet50, ddp, ring, 2 ranks: best cap 16 MiB, 30 ms")));
  points[0].tuning = points[1].tuning = "";
  EXPECT_THAT(verdicts(points, Dtype::f32),
              ElementsAre(StartsWith("resnet50, ddp, ring auto, 2 ranks: best cap 16 MiB, 40 ms"),
                          StartsWith("resnet50, ddp, ring threads=256, 2 ranks: best cap 16 MiB, "
                                     "20 ms"),
                          StartsWith("Fastest: resnet50, ddp, ring threads=256, 2 ranks")));
}

TEST(StepVerdict, ABestAtTheEdgeAsksForMore) {
  const std::vector<StepPoint> points{point(8, 50), point(16, 30)};
  EXPECT_THAT(verdicts(points, Dtype::f32).front(), HasSubstr("try larger ones"));
  const std::vector<StepPoint> saturated{point(512, 50), point(1024, 30)};
  EXPECT_THAT(verdicts(saturated, Dtype::f32).front(), Not(HasSubstr("try larger ones")))
      << "both caps give the same plan";
  const std::vector<StepPoint> falling{point(8, 30), point(16, 50)};
  EXPECT_THAT(verdicts(falling, Dtype::f32).front(), HasSubstr("try smaller ones"));
}

TEST(StepVerdict, WithoutACapThereIsNothingToSet) {
  StepPoint only = point(0, 50, "per_tensor");
  only.cap.reset();
  EXPECT_THAT(verdicts(std::vector{only}, Dtype::f32),
              ElementsAre("resnet50, per_tensor, ring, 2 ranks: 50 ms a step; it has no cap."));
}

TEST(StepVerdict, OneCapIsNotCalledTheBest) {
  EXPECT_THAT(
      verdicts(std::vector{point(25, 50)}, Dtype::f32),
      ElementsAre("resnet50, ddp, ring, 2 ranks: cap 25 MiB, 50 ms a step. Set bucket_cap_mb=25."));
}

TEST(StepVerdict, SeveralPoliciesEndInTheFastest) {
  const std::vector<StepPoint> points{point(8, 50), point(16, 40), point(8, 30, "horovod"),
                                      point(16, 60, "horovod")};
  const auto sentences = verdicts(points, Dtype::f32);
  ASSERT_EQ(sentences.size(), 3U);
  EXPECT_THAT(sentences.back(),
              StartsWith("Fastest: resnet50, horovod, ring, 2 ranks: best cap 8 MiB"));
  EXPECT_THAT(sentences.back(), HasSubstr("HOROVOD_FUSION_THRESHOLD=8388608"));
}

TEST(StepVerdict, AlgorithmsAreComparedFrom3RanksOn_AndNeverWhenOversubscribed) {
  std::vector<StepPoint> points{point(8, 50), point(8, 40, "ddp", "two_shot")};
  EXPECT_EQ(verdicts(points, Dtype::f32).size(), 2U) << "no winner at 2 ranks";
  for (StepPoint& p : points) p.ranks = 3;
  EXPECT_THAT(verdicts(points, Dtype::f32).back(),
              StartsWith("Fastest: resnet50, ddp, two_shot, 3 ranks"));
  for (StepPoint& p : points) p.oversubscribed = true;
  EXPECT_EQ(verdicts(points, Dtype::f32).size(), 2U);
  EXPECT_THAT(verdicts(points, Dtype::f32).front(), HasSubstr("More ranks than cores"));
}

}  // namespace
}  // namespace collmark
