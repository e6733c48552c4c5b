/// Recursive doubling all-reduce: whole buffers, exchanged over doubling distances.
///
///     step 0   0<->1  2<->3  4<->5  6<->7      After step t rank r holds the sum over the
///     step 1   0<->2  1<->3  4<->6  5<->7      2^(t+1) ranks that differ from it in the lowest
///     step 2   0<->4  1<->5  2<->6  3<->7      t+1 bits. Other p: see `folded`.
///
///   Shape    ranks p >= 1; 1 chunk; l = floor(log2 p) steps, l+2 when folded.
///   Cost     l(alpha + beta n + gamma n), folded + 2 alpha + 2 beta n + gamma n; n in bytes.
///   Order    partners add the same two values in opposite order: equal bits for a commutative
///            operator.
///   Source   Thakur, Rabenseifner, Gropp 2005, Int. J. High Perform. Comput. Appl. 19(1).
#include "collectives/catalogue.hpp"

namespace collmark {

Schedule recursive_doubling(int p) {
  const int power = 1 << floor_log2(p);
  const Schedule exchange{
      .ranks = power, .chunks = 1, .steps = floor_log2(p), .step = [=](int t, Emit emit) {
        for (int r = 0; r < power; ++r) emit(Reduce{.src = r, .dst = r ^ (1 << t), .chunk = 0});
      }};
  return folded(exchange, p);
}

}  // namespace collmark
