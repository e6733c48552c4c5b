/// All-reduce, reduce and broadcast over trees whose nodes hand data to each other through links.
///
///   tree kernels of            trees    which ranks stand where (RankView::trees)
///   parameter_server/links     1        a star: rank 0 above all others
///   binomial_tree              1        binomial
///   pipelined_tree             1        binary
///   double_binary_tree         2        two binary trees, each with half of the data
///   chain, binomial, star      1        of broadcast and reduce
///
///   going up     own + children's     ──> parent
///   at the root  own + children's     ──> output, ──> children      (one pass: it turns round)
///   going down   parent's             ──> output, ──> children
///
/// A block that did both would wait, piece by piece, for its data to come back from the root. So channels work in twos:
/// an even one carries data up, the odd one after it carries the same share down, and the root's even one sends what it
/// has completed on the odd one's links. Where two trees share the data, so do the pairs of channels.
///
///   Schedule  collectives/tree.cpp, double_binary_tree.cpp, parameter_server.cpp, star.cpp, ...; pieces are slots.
///   Order     own value, then the children in the schedule's order.
///   Bytes     S(6p-4) loads and stores over all p ranks of S bytes: two for each rank and each direction but the
///             root's turn, and one for each edge and end. S(3p-1) for reduce and for broadcast. By lines S(10p-8) and
///             S(5p-3): what crosses a link is stored and loaded with its flags.
///   Needs     channels a multiple of 2 x trees (of `trees` for reduce and broadcast); at most kMostPeers children.
#pragma once

#include "kernels/links.hpp"

namespace collmark {

/// What one channel of a tree's kernel works on.
struct TreeShare {
  const TreePlace* place;
  Part part;
  int up, down;  // the channels of its links

  /// `groups` of channels, one after another: pairs if data goes up and down, else single ones.
  template <class T>
  static COLLMARK_DEVICE TreeShare of(const Block& me, int group_size) {
    const Job& job = me.job();
    const int group = me.channel() / group_size;
    const int tree = group % job.trees, groups = job.channels / group_size / job.trees;
    return {&me.view().trees[tree],
            share(chunks_of_tree(job, tree), group / job.trees, groups, Pack<T>::kSize),
            group * group_size, group * group_size + group_size - 1};
  }
  COLLMARK_DEVICE bool is_root() const { return place->parent < 0; }
  COLLMARK_DEVICE Peer parent() const { return {place->parent}; }
  COLLMARK_DEVICE Peers children() const { return {place->children, place->child_count}; }
  // In which step of the schedule the first piece comes from the children, and from the parent.
  COLLMARK_DEVICE int step_up() const { return place->height - place->depth - 1; }
  COLLMARK_DEVICE int step_down() const { return place->depth - 1; }
};

/// What all children bring, with this rank's own, to the parent; at the root to the output.
template <class T, Protocol kProtocol>
COLLMARK_DEVICE bool tree_up(Links<T, kProtocol>& links, const TreeShare& tree, Part x) {
  if (tree.is_root())
    return links.template move<Own::add_and_keep>(tree.children(), Nobody{}, x, Value::complete,
                                                  tree.step_up());
  return links.template move<Own::add>(tree.children(), tree.parent(), x, Value::partial,
                                       tree.step_up());
}

/// What the parent sends, to the output and to all children.
template <class T, Protocol kProtocol>
COLLMARK_DEVICE bool tree_down(Links<T, kProtocol>& links, const TreeShare& tree, Part x,
                               int step) {
  return links.template move<Own::keep>(tree.parent(), tree.children(), x, Value::partial, step);
}

template <class T, Protocol kProtocol = Protocol::simple>
COLLMARK_KERNEL void tree_all_reduce(Job job) {
  const Block me(job);
  const TreeShare tree = TreeShare::of<T>(me, 2);
  const bool upwards = me.channel() == tree.up;
  if (!upwards && tree.is_root()) return;  // its other channel sends what it completes
  Links<T, kProtocol> links(me, upwards ? tree.up : tree.down,
                            upwards && !tree.is_root() ? tree.up : tree.down);
  if (job.in_place && !tree.is_root()) {  // results come down into what is still to go up
    if (upwards)
      links.are_read_before(tree.down);
    else
      links.replace_what_is_read();
  }
  for (std::int64_t i = 0; i < links.pieces(tree.part); ++i) {
    const Part x = links.piece(tree.part, i);
    bool ok;
    if (!upwards)
      ok = tree_down(links, tree, x, tree.place->height + tree.step_down());
    else if (tree.is_root())
      ok = links.template move<Own::add_and_keep>(tree.children(), tree.children(), x,
                                                  Value::complete, tree.step_up());
    else
      ok = tree_up(links, tree, x);
    if (!ok) return;
  }
}

/// The root ends with the result.
template <class T, Protocol kProtocol = Protocol::simple>
COLLMARK_KERNEL void tree_reduce(Job job) {
  const Block me(job);
  const TreeShare tree = TreeShare::of<T>(me, 1);
  Links<T, kProtocol> links(me);
  for (std::int64_t i = 0; i < links.pieces(tree.part); ++i)
    if (!tree_up(links, tree, links.piece(tree.part, i))) return;
}

/// The root brings the data.
template <class T, Protocol kProtocol = Protocol::simple>
COLLMARK_KERNEL void tree_broadcast(Job job) {
  const Block me(job);
  const TreeShare tree = TreeShare::of<T>(me, 1);
  Links<T, kProtocol> links(me);
  for (std::int64_t i = 0; i < links.pieces(tree.part); ++i) {
    const Part x = links.piece(tree.part, i);
    const bool ok = tree.is_root() ? links.template move<Own::add_and_keep>(
                                         Nobody{}, tree.children(), x, Value::partial, 0)
                                   : tree_down(links, tree, x, tree.step_down());
    if (!ok) return;
  }
}

// The same with low latency.

template <class T>
COLLMARK_KERNEL void tree_ll_all_reduce(Job job) {
  tree_all_reduce<T, Protocol::low_latency>(job);
}
template <class T>
COLLMARK_KERNEL void tree_ll_reduce(Job job) {
  tree_reduce<T, Protocol::low_latency>(job);
}
template <class T>
COLLMARK_KERNEL void tree_ll_broadcast(Job job) {
  tree_broadcast<T, Protocol::low_latency>(job);
}

}  // namespace collmark
