/// The rows of a sweep that `collmark fit` can use, and which of them obey the same constants.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/least_squares.hpp"

namespace collmark {

/// Whether ranks share one.
enum class Spread { one, one_a_rank, several };

/// What is fitted together: unlike rows may share a file (--append). Ranks that take turns on a core
/// obey other constants, and so do messages between hosts.
struct FitKey {
  std::string backend, collective, algorithm, dtype, placement, cache;
  std::string tuning;  // that was asked of kernels
  Spread hosts = Spread::one;
  bool oversubscribed = false;
  friend auto operator<=>(const FitKey&, const FitKey&) = default;
};

struct FitRows {
  std::vector<Observation> observations;
  std::set<std::int64_t> counts;  // of elements: one dtype, so each is a size
};

struct FitInput {
  std::map<FitKey, FitRows> groups;
  int used = 0, left_out = 0;  // rows
};

/// Throws Error{usage} with the line of the file that is none of a sweep.
[[nodiscard]] FitInput fit_input(const std::string& path);

}  // namespace collmark
