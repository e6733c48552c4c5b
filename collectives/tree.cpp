#include "collectives/tree.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace collmark {
namespace {

struct Node {
  int rank, parent, depth;
};

}  // namespace

//   depth 0          r              step   up from depth 2   up from depth 1   down from 0, from 1
//                  /   \             0          seg 0
//   depth 1       a     b            1          seg 1             seg 0
//                / \   / \           2          seg 2             seg 1          seg 0
//   depth 2     c   d e   f          3                            seg 2          seg 1   seg 0
//
// A node of depth d sends segment j up in step (h-d)+j, when its children have added theirs, and
// gets it back in step (h+d-1)+j.
Schedule pipelined_over_tree(int p, int s, const std::function<int(int)>& parent) {
  auto nodes = std::make_shared<std::vector<Node>>();  // all but the root
  int height = 0;
  for (int r = 0; r < p; ++r) {
    if (parent(r) < 0) continue;
    int depth = 0;
    for (int up = parent(r); up >= 0; up = parent(up)) ++depth;
    nodes->push_back({r, parent(r), depth});
    height = std::max(height, depth);
  }
  const auto in_flight = [=](int segment) { return segment >= 0 && segment < s; };
  return {.ranks = p,
          .chunks = s,
          .steps = height > 0 ? 2 * height + s - 1 : 0,
          .step = [=](int t, Emit emit) {
            for (const Node& n : *nodes)
              if (const int j = t - (height - n.depth); in_flight(j))
                emit(Reduce{.src = n.rank, .dst = n.parent, .chunk = j});
            for (const Node& n : *nodes)
              if (const int j = t - (height + n.depth - 1); in_flight(j))
                emit(Copy{.src = n.parent, .dst = n.rank, .chunk = j});
          }};
}

}  // namespace collmark
