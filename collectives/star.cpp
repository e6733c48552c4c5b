/// Star reduce and broadcast: every rank talks to the root directly.
///
///     1   2   3
///      \  |  /       One step; the root's port carries p-1 messages of the whole buffer.
///       > 0 <
///
///   Shape    ranks p >= 1; 1 chunk; 1 step (0 at p = 1).
///   Cost     (p-1)(alpha + beta n) (+ (p-1) gamma n for reduce) seconds, n in bytes.
///   Order    the root's own value, then the others in rank order.
///   Source   the definition; MPI libraries call it "linear".
#include "collectives/catalogue.hpp"

namespace collmark {

Schedule star_reduce(int p) {
  return {.ranks = p, .chunks = 1, .steps = p > 1 ? 1 : 0, .step = [=](int, Emit emit) {
            for (int r = 1; r < p; ++r) emit(Reduce{.src = r, .dst = 0, .chunk = 0});
          }};
}

Schedule star_broadcast(int p) { return reversed(star_reduce(p)); }

}  // namespace collmark
