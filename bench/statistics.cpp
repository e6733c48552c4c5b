#include "bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr double kMissed = 0.05;  // 1 - confidence, both sides together
constexpr std::size_t kFewestForP99 = 100;

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) throw Error(ErrorKind::broken, "quantile of no values");
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

std::optional<RankPair> median_interval_ranks(std::size_t n) {
  // The median lies outside with 2 P(Bin(n, 1/2) <= low). In logarithms: 2^-n underflows at n =
  // 1075.
  const auto size = static_cast<double>(n);
  double log_probability = -size * std::log(2.0);  // of Bin(n, 1/2) = 0
  double outside = 0.0;
  std::optional<RankPair> best;
  for (std::size_t low = 0; 2 * low + 1 < n; ++low) {
    outside += 2.0 * std::exp(log_probability);
    if (outside > kMissed) break;
    best = RankPair{low, n - 1 - low};
    const auto k = static_cast<double>(low);
    log_probability += std::log((size - k) / (k + 1.0));
  }
  return best;
}

std::optional<Interval> median_interval(std::span<const double> sorted) {
  const std::optional<RankPair> ranks = median_interval_ranks(sorted.size());
  if (!ranks) return std::nullopt;
  return Interval{sorted[ranks->low], sorted[ranks->high]};
}

Summary summarise(std::vector<double> values) {
  Summary s;
  s.n = values.size();
  if (values.empty()) return s;
  std::sort(values.begin(), values.end());
  s.min = values.front();
  s.p50 = quantile(values, 0.5);
  s.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(s.n);
  s.p95 = quantile(values, 0.95);
  s.max = values.back();
  if (s.n >= kFewestForP99) s.p99 = quantile(values, 0.99);
  s.interval = median_interval(values);
  return s;
}

}  // namespace collmark
