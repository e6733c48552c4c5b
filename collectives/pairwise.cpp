/// Pairwise all-to-all: in step t everybody exchanges blocks at distance t+1.
///
///     step 0   0->1  1->2  2->3  3->0        Block d of rank s goes to place s of rank d, straight
///     step 1   0->2  1->3  2->0  3->1        from input to output: every block travels once, and
///     step 2   0->3  1->0  2->1  3->2        every port is busy in every step.
///
///   Shape    ranks p >= 1; 2p chunks, [0, p) the input's blocks, [p, 2p) the output's; p-1 steps.
///            A rank's own block is moved in the first step, which at p = 1 is the only one.
///   Cost     (p-1)(alpha + beta n/p) seconds, n in bytes.
///   Source   Thakur, Rabenseifner, Gropp 2005, Int. J. High Perform. Comput. Appl. 19(1).
#include <algorithm>

#include "collectives/catalogue.hpp"

namespace collmark {

Schedule pairwise_all_to_all(int p) {
  return {.ranks = p, .chunks = 2 * p, .steps = std::max(1, p - 1), .step = [=](int t, Emit emit) {
            const auto block = [&](int src, int dst) {
              emit(Move{.src = src, .dst = dst, .src_chunk = dst, .dst_chunk = p + src});
            };
            for (int r = 0; r < p; ++r) {
              if (t == 0) block(r, r);
              if (p > 1) block(r, mod(r + t + 1, p));
            }
          }};
}

}  // namespace collmark
