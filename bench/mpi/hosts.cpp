#include "bench/mpi/hosts.hpp"

#include <algorithm>
#include <set>

namespace collmark {

int Hosts::count(int ranks) const {
  return static_cast<int>(std::set<int>(of.begin(), of.begin() + ranks).size());
}

int Hosts::neighbours(int rank, int ranks) const {
  return static_cast<int>(
      std::count(of.begin(), of.begin() + ranks, of[static_cast<std::size_t>(rank)]));
}

int Hosts::below(int rank) const { return neighbours(rank, rank); }

int Hosts::first_elsewhere(int ranks) const {
  const auto end = of.begin() + ranks;
  const auto found = std::find_if(of.begin(), end, [&](int host) { return host != of.front(); });
  return found == end ? 1 : static_cast<int>(found - of.begin());
}

}  // namespace collmark
