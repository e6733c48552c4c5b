/// Recursive halving reduce-scatter, recursive doubling all-gather, and Rabenseifner's all-reduce,
/// which is one after the other.
///
///     step 0   0<->4  1<->5  2<->6  3<->7      Rank r gives the half of its chunks in which the
///     step 1   0<->2  1<->3  4<->6  5<->7      partner lies and adds to the half in which it lies
///     step 2   0<->1  2<->3  4<->5  6<->7      itself, until only chunk r is left.
///
///   Shape    ranks p = 2^l; p chunks; l steps each. rabenseifner takes any p: p' = 2^floor(log2 p)
///            chunks, 2l steps, 2l+2 when folded.
///   Cost     l alpha + beta n(p-1)/p each way, + gamma n(p-1)/p for reduce-scatter; folded
///            + 2 alpha + 2 beta n + gamma n; n in bytes.
///   Order    fixed by the tree of each chunk; all-gather copies one owner's bits to all.
///   Throws   Unsupported if p is no power of two (reduce-scatter and all-gather).
///   Source   Rabenseifner 2004, ICCS, LNCS 3036; Thakur, Rabenseifner, Gropp 2005.
#include <fmt/format.h>

#include "collectives/catalogue.hpp"

namespace collmark {

Schedule recursive_halving_reduce_scatter(int p) {
  if (p != 1 << floor_log2(p))
    throw Unsupported(fmt::format("recursive halving needs a power of two, not {} ranks", p));
  return {.ranks = p, .chunks = p, .steps = floor_log2(p), .step = [=](int t, Emit emit) {
            const int d = p >> (t + 1);  // distance, and chunks sent
            for (int r = 0; r < p; ++r)
              emit(Reduce{.src = r, .dst = r ^ d, .chunk = (r ^ d) / d * d, .count = d});
          }};
}

Schedule recursive_doubling_all_gather(int p) {
  if (p != 1 << floor_log2(p))
    throw Unsupported(fmt::format("recursive doubling needs a power of two, not {} ranks", p));
  return reversed(recursive_halving_reduce_scatter(p));
}

Schedule rabenseifner(int p) {
  const Schedule halving = recursive_halving_reduce_scatter(1 << floor_log2(p));
  return folded(then(halving, reversed(halving)), p);
}

}  // namespace collmark
