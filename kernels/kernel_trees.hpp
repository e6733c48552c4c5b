/// Which rank hangs on which, read from a schedule: the tree kernels run the trees that the builders have drawn.
#pragma once

#include <vector>

#include "collectives/schedule.hpp"

namespace collmark {

/// One tree over all ranks.
struct RankTree {
  std::vector<int> parent;                 // [rank], -1 of the root
  std::vector<std::vector<int>> children;  // [rank], in the order in which their values are added

  [[nodiscard]] int depth(int rank) const;
  [[nodiscard]] int height() const;
  friend bool operator==(const RankTree&, const RankTree&) = default;
};

/// The trees of a schedule whose chunks each travel along one tree: to the root as they are reduced, from it as they are
/// copied. Equal trees of chunks that follow each other are one.
///   Throws   Unsupported if some chunk does not, or if the trees do not share the chunks evenly.
[[nodiscard]] std::vector<RankTree> trees_of(const Schedule& s);

}  // namespace collmark
