/// Which ranks of a job share a host.
#pragma once

#include <vector>

namespace collmark {

/// Hosts by numbers that mean nothing else.
struct Hosts {
  std::vector<int> of;  // [rank]

  /// Of ranks [0, ranks).
  [[nodiscard]] int count(int ranks) const;
  /// How many of ranks [0, ranks) share the host of `rank`.
  [[nodiscard]] int neighbours(int rank, int ranks) const;
  /// How many ranks below it share its host.
  [[nodiscard]] int below(int rank) const;
  /// The first of ranks [1, ranks) that does not share the host of rank 0; rank 1 if all do.
  [[nodiscard]] int first_elsewhere(int ranks) const;
};

}  // namespace collmark
