#include "bench/least_squares.hpp"

#include <algorithm>
#include <cmath>

#include "bench/statistics.hpp"

namespace collmark {
namespace {

using Terms = std::vector<std::size_t>;
using Coefficients = std::array<std::optional<double>, kTerms>;

// Cosine squared of the angle to the other terms above which a term says nothing of its own: counts
// of bytes moved and bytes reduced differ only by rounding of chunks.
constexpr double kParallel = 0.999;

double weighted(const Observation& o, std::size_t term) { return o.term[term] / o.value; }

/// Solves the normal equations of `terms`, scaled to unit columns. Empty where they are (nearly)
/// singular.
std::optional<std::vector<double>> solve(std::span<const Observation> data, const Terms& terms) {
  const std::size_t n = terms.size();
  std::vector<double> norm(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (const Observation& o : data) norm[i] += weighted(o, terms[i]) * weighted(o, terms[i]);
    norm[i] = std::sqrt(norm[i]);
    if (norm[i] == 0.0) return std::nullopt;
  }
  std::vector<std::vector<double>> m(n, std::vector<double>(n + 1, 0.0));  // with the right side
  for (const Observation& o : data)
    for (std::size_t i = 0; i < n; ++i) {
      const double x = weighted(o, terms[i]) / norm[i];
      for (std::size_t j = 0; j < n; ++j) m[i][j] += x * weighted(o, terms[j]) / norm[j];
      m[i][n] += x;  // every value, divided by itself, is 1
    }
  // Elimination without pivoting: the matrix is positive definite with a unit diagonal, and what is
  // left of a diagonal element is the share of that term which the earlier ones do not explain.
  for (std::size_t k = 0; k < n; ++k) {
    if (m[k][k] < 1.0 - kParallel) return std::nullopt;
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = m[i][k] / m[k][k];
      for (std::size_t j = k; j <= n; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  std::vector<double> x(n);
  for (std::size_t k = n; k-- > 0;) {
    x[k] = m[k][n];
    for (std::size_t j = k + 1; j < n; ++j) x[k] -= m[k][j] * x[j];
    x[k] /= m[k][k];
  }
  for (std::size_t k = 0; k < n; ++k) x[k] /= norm[k];
  return x;
}

std::vector<double> residuals(std::span<const Observation> data, const Coefficients& c) {
  std::vector<double> all;
  for (const Observation& o : data) {
    double model = 0.0;
    for (std::size_t i = 0; i < kTerms; ++i) model += c[i].value_or(0.0) * o.term[i];
    all.push_back(std::abs(model / o.value - 1.0));
  }
  return all;
}

double sum_of_squares(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double v : values) sum += v * v;
  return sum;
}

}  // namespace

std::optional<Fit> fit_relative(std::span<const Observation> observations) {
  if (observations.size() < 2) return std::nullopt;
  std::optional<Coefficients> best;
  double least = 0.0;
  // With three terms all subsets are few: the best one without a negative coefficient is the
  // constrained optimum.
  for (unsigned subset = 1; subset < 1u << kTerms; ++subset) {
    Terms terms;
    for (std::size_t i = 0; i < kTerms; ++i)
      if ((subset >> i & 1u) != 0) terms.push_back(i);
    const auto x = solve(observations, terms);
    if (!x || std::any_of(x->begin(), x->end(), [](double v) { return v < 0.0; })) continue;
    Coefficients c;
    for (std::size_t i = 0; i < terms.size(); ++i) c[terms[i]] = (*x)[i];
    const double squares = sum_of_squares(residuals(observations, c));
    // Earlier subsets prefer earlier terms: a later one must be better, not equal.
    if (best && squares >= least * (1.0 - 1e-9)) continue;
    best = c;
    least = squares;
  }
  if (!best) return std::nullopt;
  std::vector<double> all = residuals(observations, *best);
  return Fit{*best, median(all), *std::max_element(all.begin(), all.end())};
}

}  // namespace collmark
