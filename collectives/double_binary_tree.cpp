/// Double binary tree all-reduce: two trees, each with half of the data, at the same time.
///
///   Number the places 1..p from left to right: odd places are leaves, even ones inner nodes;
///   the height of a place is its number of trailing zero bits.
///
///            4                   The second tree puts every rank at a place of the other parity:
///        2       6               for even p it is the mirror image, for odd p it is shifted by 1.
///      1   3   5   7             So no rank is an inner node of both, and each sends at most
///                                n/2 up + n down in one tree and n/2 up in the other: 2n.
///
///   Shape    ranks p >= 1; s segments per half (default 8), 2s chunks;
///            2 floor(log2 p) + s - 1 steps.
///   Cost     at most 2(2L+2s)(alpha + beta n/2s) seconds without reductions; L = ceil(log2 p).
///   Order    own value, then the children in rank order; fixed.
///   Source   Sanders, Speck, Traff 2009, Parallel Computing 35(12).
#include "collectives/catalogue.hpp"
#include "collectives/tree.hpp"

namespace collmark {
namespace {

/// The place above `place` of 1..p, 0 above the root: up one height to the odd multiple of it that
/// is nearer, or as many heights as it takes to stay within p.
int place_above(int place, int p) {
  for (int low = place & -place; low <= p / 2; low *= 2) {
    const int above = (place & ~low) | (2 * low);
    if (above <= p) return above;
    place &= ~low;
  }
  return 0;
}

}  // namespace

Schedule double_binary_tree(int p, int s) {
  const auto tree = [=](auto place_of, auto rank_at) {
    return pipelined_over_tree(p, s, [=](int r) {
      const int above = place_above(place_of(r), p);
      return above == 0 ? -1 : rank_at(above);
    });
  };
  const auto first = [](int r) { return r + 1; };
  const Schedule left = tree(first, [](int place) { return place - 1; });
  if (p % 2 == 0)
    return beside(left, tree([=](int r) { return p - r; }, [=](int place) { return p - place; }));
  return beside(
      left, tree([=](int r) { return r == 0 ? p : r; }, [=](int place) { return mod(place, p); }));
}

}  // namespace collmark
