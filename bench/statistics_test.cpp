#include "bench/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace collmark {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 1.0);
  return v;
}

TEST(Statistics, MedianOfAnEvenCountLiesBetweenTheMiddleTwo) {
  EXPECT_DOUBLE_EQ(median({4.0, 1.0, 3.0, 2.0}), 2.5);
  EXPECT_DOUBLE_EQ(median({5.0, 1.0, 3.0}), 3.0);
  EXPECT_DOUBLE_EQ(median({7.0}), 7.0);
}

TEST(Statistics, QuantilesInterpolateLinearly) {
  // Type 7: position q (n - 1); of 1..5 the 95th percentile is at 3.8, that is 4.8.
  EXPECT_DOUBLE_EQ(quantile(one_to(5), 0.95), 4.8);
  EXPECT_DOUBLE_EQ(quantile(one_to(5), 0.0), 1.0);
  EXPECT_DOUBLE_EQ(quantile(one_to(5), 1.0), 5.0);
}

TEST(Statistics, NoIntervalOfTheMedianBelowSixValues) {
  // Even minimum and maximum of 5 miss the median with 2 / 32 = 6.25 %.
  for (std::size_t n = 0; n < 6; ++n) EXPECT_FALSE(median_interval_ranks(n)) << n;
}

TEST(Statistics, IntervalOfTheMedianEqualsTheBinomialTable) {
  // By hand from Pascal's triangle, and the tables of Conover, "Practical Nonparametric
  // Statistics".
  struct Row {
    std::size_t n, low, high;
  };
  for (const Row r : {Row{6, 0, 5}, Row{7, 0, 6}, Row{8, 0, 7}, Row{9, 1, 7}, Row{10, 1, 8},
                      Row{12, 2, 9}, Row{20, 5, 14}, Row{100, 39, 60}}) {
    const auto got = median_interval_ranks(r.n);
    ASSERT_TRUE(got) << r.n;
    EXPECT_EQ(got->low, r.low) << r.n;
    EXPECT_EQ(got->high, r.high) << r.n;
  }
}

TEST(Statistics, IntervalOfManyValuesApproachesTheNormalOne) {
  const std::size_t n = 10'000;  // 2^-10000 is not a double
  const auto got = median_interval_ranks(n);
  ASSERT_TRUE(got);
  EXPECT_NEAR(static_cast<double>(got->low), 5'000.0 - 1.96 * 50.0, 2.0);
}

TEST(Statistics, SummaryOfOneToTen) {
  const Summary s = summarise({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(s.n, 10u);
  EXPECT_DOUBLE_EQ(s.min, 1.0);
  EXPECT_DOUBLE_EQ(s.p50, 5.5);
  EXPECT_DOUBLE_EQ(s.mean, 5.5);
  EXPECT_DOUBLE_EQ(s.p95, 9.55);
  EXPECT_DOUBLE_EQ(s.max, 10.0);
  ASSERT_TRUE(s.interval);
  EXPECT_DOUBLE_EQ(s.interval->low, 2.0);
  EXPECT_DOUBLE_EQ(s.interval->high, 9.0);
}

TEST(Statistics, NinetyNinthPercentileNeedsAHundredValues) {
  EXPECT_FALSE(summarise(one_to(99)).p99);
  ASSERT_TRUE(summarise(one_to(100)).p99);
  EXPECT_DOUBLE_EQ(*summarise(one_to(101)).p99, 100.0);
}

TEST(Statistics, SummaryOfNothingClaimsNothing) {
  const Summary s = summarise({});
  EXPECT_EQ(s.n, 0u);
  EXPECT_FALSE(s.interval);
  EXPECT_FALSE(s.p99);
}

}  // namespace
}  // namespace collmark
