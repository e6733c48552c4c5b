/// Least squares on relative error with few, non-negative coefficients.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace collmark {

inline constexpr std::size_t kTerms = 3;

/// `value` is modelled as the sum of coefficient[i] * term[i].
struct Observation {
  std::array<double, kTerms> term{};
  double value = 0.0;  // > 0
};

struct Fit {
  /// Empty where the data cannot tell the term from the others: it is always 0, always so many
  /// times another one, or a negative coefficient would fit better.
  std::array<std::optional<double>, kTerms> coefficient{};
  double median_residual = 0.0;  // |model / value - 1|
  double worst_residual = 0.0;
};

/// Minimises the sum of (model / value - 1)^2: a case of 1 us counts as much as one of 1 s, where
/// plain squares would see the largest sizes alone. Coefficients are >= 0. Terms are tried in
/// order: one that the earlier ones explain is left out. Empty if there are fewer observations than
/// two, or none of the terms helps.
[[nodiscard]] std::optional<Fit> fit_relative(std::span<const Observation> observations);

}  // namespace collmark
