#include "bench/least_squares.hpp"

#include <gtest/gtest.h>

namespace collmark {
namespace {

Observation observed(double rounds, double bytes, double reduced, double noise = 1.0) {
  constexpr double kAlpha = 2e-6, kBeta = 1e-10, kGamma = 5e-11;
  return {{rounds, bytes, reduced}, noise * (kAlpha * rounds + kBeta * bytes + kGamma * reduced)};
}

TEST(LeastSquares, ExactDataGiveBackTheirCoefficients) {
  const std::vector<Observation> data{observed(2, 1e3, 1e3), observed(2, 1e6, 0),
                                      observed(14, 1e6, 1e6), observed(6, 1e8, 3e7),
                                      observed(3, 10, 1e5)};
  const auto fit = fit_relative(data);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->coefficient[0].value(), 2e-6, 1e-12);
  EXPECT_NEAR(fit->coefficient[1].value(), 1e-10, 1e-16);
  EXPECT_NEAR(fit->coefficient[2].value(), 5e-11, 1e-16);
  EXPECT_LT(fit->worst_residual, 1e-9);
}

TEST(LeastSquares, ResidualsAreRelativeAndNotHiddenByLargeValues) {
  // One small case is off by 50 %; against 1e8 bytes that is nothing, relatively it is the worst.
  std::vector<Observation> data;
  for (const double bytes : {1e4, 1e5, 1e6, 1e7, 1e8, 1e9}) data.push_back(observed(2, bytes, 0));
  data.push_back(observed(2, 10, 0, 1.5));
  const auto fit = fit_relative(data);
  ASSERT_TRUE(fit);
  EXPECT_GT(fit->worst_residual, 0.15);
  EXPECT_LT(fit->median_residual, fit->worst_residual);
}

TEST(LeastSquares, TermsThatAreProportionalAreNotToldApart) {
  // A ring reduces half of what it sends, at every size and rank count.
  std::vector<Observation> data;
  for (const double bytes : {1e3, 1e4, 1e5, 1e6}) data.push_back(observed(2, bytes, bytes / 2));
  const auto fit = fit_relative(data);
  ASSERT_TRUE(fit);
  EXPECT_FALSE(fit->coefficient[2]);
  EXPECT_NEAR(fit->coefficient[1].value(), 1e-10 + 5e-11 / 2, 1e-16);
}

TEST(LeastSquares, NoCoefficientIsNegative) {
  // Time falls with bytes: nonsense that must not become a negative beta.
  const std::vector<Observation> data{{{1, 1, 0}, 10}, {{1, 10, 0}, 5}, {{1, 100, 0}, 2}};
  const auto fit = fit_relative(data);
  ASSERT_TRUE(fit);
  for (const auto& c : fit->coefficient) EXPECT_GE(c.value_or(0.0), 0.0);
}

TEST(LeastSquares, OneObservationFitsEverythingAndSoNothing) {
  EXPECT_FALSE(fit_relative(std::vector<Observation>{observed(2, 1e3, 0)}));
}

}  // namespace
}  // namespace collmark
