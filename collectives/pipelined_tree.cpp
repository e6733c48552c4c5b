/// Pipelined binary tree all-reduce: segments go up a heap-shaped tree, and down again.
///
///           0
///         /   \         The parent of rank r is (r-1)/2. Segments follow each other; the way down
///        1     2        starts when the first of them is complete at the root.
///       / \   /
///      3   4 5
///
///   Shape    ranks p >= 1; s segments (default 8) = chunks; 2 floor(log2 p) + s - 1 steps.
///   Cost     at most 2(2L+2s)(alpha + beta n/s) seconds without reductions; L = ceil(log2 p). An
///            inner rank sends 3n: n up and 2n down.
///   Order    own value, left child, right child; fixed.
///   Source   Sanders & Sibeyn 2003, Inf. Process. Lett. 86(1).
#include "collectives/catalogue.hpp"
#include "collectives/tree.hpp"

namespace collmark {

Schedule pipelined_tree(int p, int s) {
  return pipelined_over_tree(p, s, [](int r) { return r == 0 ? -1 : (r - 1) / 2; });
}

}  // namespace collmark
