/// Dissemination barrier: in step t rank r tells rank r + 2^t that it has come, and who else has.
///
///     step 0   0->1  1->2  2->3  3->4  4->0      Who is told in step t has heard of the 2^(t+1)
///     step 1   0->2  1->3  2->4  3->0  4->1      ranks before it; nobody waits for one root.
///     step 2   0->4  1->0  2->1  3->2  4->3
///
///   Shape    ranks p >= 1; messages without data; ceil(log2 p) steps.
///   Cost     ceil(log2 p) alpha seconds.
///   Source   Hensgen, Finkel, Manber 1988, Int. J. Parallel Program. 17(1).
#include "collectives/catalogue.hpp"

namespace collmark {

Schedule dissemination_barrier(int p) {
  return {.ranks = p, .chunks = 1, .steps = ceil_log2(p), .step = [=](int t, Emit emit) {
            for (int r = 0; r < p; ++r) emit(Signal{.src = r, .dst = mod(r + (1 << t), p)});
          }};
}

}  // namespace collmark
