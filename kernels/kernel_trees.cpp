#include "kernels/kernel_trees.hpp"

#include <algorithm>

#include "collectives/catalogue.hpp"
#include "collectives/index.hpp"

namespace collmark {
namespace {

RankTree no_edges(int ranks) {
  return {.parent = std::vector<int>(at(ranks), -1),
          .children = std::vector<std::vector<int>>(at(ranks))};
}

void require_tree(bool holds) {
  if (!holds) throw Unsupported("the algorithm is not one of trees, so no tree kernel runs it");
}

/// Who reduces into whom, or where nobody does, who copies from whom: [chunk].
std::vector<RankTree> tree_of_each_chunk(const Schedule& s, Verb verb) {
  std::vector<RankTree> trees(at(s.chunks), no_edges(s.ranks));
  for (int t = 0; t < s.steps; ++t)
    s.step(t, [&](const Transfer& x) {
      if (x.verb != verb || x.src == x.dst) return;
      const int child = verb == Verb::reduce ? x.src : x.dst;
      const int parent = verb == Verb::reduce ? x.dst : x.src;
      for (int i = 0; i < x.count; ++i) {
        RankTree& tree = trees[at(x.src_chunk + i)];
        require_tree(tree.parent[at(child)] == -1);
        tree.parent[at(child)] = parent;
        tree.children[at(parent)].push_back(child);
      }
    });
  return trees;
}

}  // namespace

int RankTree::depth(int rank) const {
  int depth = 0;
  for (int up = parent[at(rank)]; up >= 0; up = parent[at(up)])
    require_tree(++depth < static_cast<int>(parent.size()));
  return depth;
}

int RankTree::height() const {
  int height = 0;
  for (int r = 0; r < static_cast<int>(parent.size()); ++r) height = std::max(height, depth(r));
  return height;
}

std::vector<RankTree> trees_of(const Schedule& s) {
  const Verb verb = s.collective == Collective::broadcast ? Verb::copy : Verb::reduce;
  std::vector<RankTree> of_chunk = tree_of_each_chunk(s, verb);
  for (const RankTree& tree : of_chunk)
    require_tree(std::count(tree.parent.begin(), tree.parent.end(), -1) == 1);
  if (s.collective == Collective::all_reduce) {  // down again the same way, if in another order
    const std::vector<RankTree> down = tree_of_each_chunk(s, Verb::copy);
    for (int c = 0; c < s.chunks; ++c) require_tree(down[at(c)].parent == of_chunk[at(c)].parent);
  }
  std::vector<RankTree> trees;
  for (RankTree& tree : of_chunk)
    if (trees.empty() || !(trees.back() == tree)) trees.push_back(std::move(tree));
  require_tree(s.chunks % static_cast<int>(trees.size()) == 0);
  return trees;
}

}  // namespace collmark
