/// What a bucket sweep comes to, in sentences: the best cap, the plateau around it, the flag to
/// paste.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/bucket.hpp"

namespace collmark {

/// One verified point of the sweep in one launch.
struct StepPoint {
  std::string model;
  std::string policy;
  std::optional<Bytes> cap;  // empty: the policy has none
  std::string algorithm;
  std::string tuning = {};  // that was asked of kernels, "channels=8"
  int ranks = 2;
  Seconds step{};
  bool oversubscribed = false;
  int buckets = 0;
};

/// The fastest cap, and the neighbouring caps that are as good: within 5 % of it.
struct CapChoice {
  StepPoint best;
  std::optional<Bytes> low, high;  // of the plateau
  std::size_t tried = 0;           // caps
  bool smallest = false;           // the best is the smallest cap tried
  bool largest = false;            // the largest, and it still changed the plan
};

inline constexpr double kPlateau = 0.05;

/// `points` are of one model, policy, algorithm, tuning and number of ranks, in any order; not empty. Several
/// launches of a cap count as their median.
[[nodiscard]] CapChoice choose_cap(std::span<const StepPoint> points);

/// One sentence per model, number of ranks, policy, algorithm and tuning, in this order; then the fastest of
/// several. A tuning is named where there is more than one. At 2 ranks algorithms are not compared, because there ring, two_shot and their kin move
/// the same bytes between the same two; nor is anything ranked where ranks exceed the cores.
[[nodiscard]] std::vector<std::string> verdicts(std::span<const StepPoint> points, Dtype dtype);

}  // namespace collmark
