/// Order statistics of times, with no assumption about their distribution.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace collmark {

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// Value at probability q of sorted values, linear between neighbours (Hyndman & Fan 1996, type 7).
/// Throws Error{broken} if empty.
[[nodiscard]] double quantile(std::span<const double> sorted, double q);
[[nodiscard]] double median(std::vector<double> values);

/// Which order statistics (from 0) enclose the median with a confidence of at least 95 %, by the
/// binomial distribution: P(low-th < median < high-th) = 1 - 2 P(Bin(n, 1/2) <= low). Empty below
/// n = 6, where even minimum and maximum do not.
struct RankPair {
  std::size_t low, high;
};
[[nodiscard]] std::optional<RankPair> median_interval_ranks(std::size_t n);
[[nodiscard]] std::optional<Interval> median_interval(std::span<const double> sorted);

/// What a row of results.csv says about its samples, in their unit.
struct Summary {
  std::size_t n = 0;
  double min = 0.0, p50 = 0.0, mean = 0.0, p95 = 0.0, max = 0.0;
  std::optional<double> p99;         // n >= 100
  std::optional<Interval> interval;  // of the median, 95 %; n >= 6
};
[[nodiscard]] Summary summarise(std::vector<double> values);

}  // namespace collmark
