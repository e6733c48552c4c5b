#include "topologies/own_cores.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

namespace collmark {
namespace {

class Matching {
 public:
  explicit Matching(const std::vector<std::vector<int>>& cores) : cores_(cores) {}

  /// Gives the rank a core, if need be one whose rank can move to another.
  bool place(std::size_t rank) {
    std::set<int> tried;
    return place(rank, tried);
  }

 private:
  bool place(std::size_t rank, std::set<int>& tried) {
    for (const int core : cores_[rank])
      if (!rank_on_.contains(core)) return take(core, rank);
    return std::any_of(cores_[rank].begin(), cores_[rank].end(), [&](int core) {
      return tried.insert(core).second && place(rank_on_.at(core), tried) && take(core, rank);
    });
  }

  bool take(int core, std::size_t rank) {
    rank_on_[core] = rank;
    return true;
  }

  const std::vector<std::vector<int>>& cores_;
  std::map<int, std::size_t> rank_on_;  // core -> rank
};

}  // namespace

int ranks_with_own_core(const std::vector<std::vector<int>>& cores) {
  Matching matching(cores);
  int placed = 0;
  for (std::size_t rank = 0; rank < cores.size(); ++rank) placed += matching.place(rank) ? 1 : 0;
  return placed;
}

}  // namespace collmark
