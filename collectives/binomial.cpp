/// Binomial tree: reduce, broadcast, and all-reduce as one after the other.
///
///     step 0   1->0  3->2  5->4  7->6        In step t the ranks that are odd multiples of 2^t
///     step 1   2->0  6->4                    hand all they have to the rank 2^t below; half of the
///     step 2   4->0                          ranks are done after every step.
///
///   Shape    ranks p >= 1; 1 chunk; ceil(log2 p) steps each way.
///   Cost     L(alpha + beta n) each way, + L gamma n for reduce; L = ceil(log2 p), n in bytes.
///   Order    fixed by the tree.
///   Source   Thakur, Rabenseifner, Gropp 2005, Int. J. High Perform. Comput. Appl. 19(1).
#include "collectives/catalogue.hpp"

namespace collmark {

Schedule binomial_reduce(int p) {
  return {.ranks = p, .chunks = 1, .steps = ceil_log2(p), .step = [=](int t, Emit emit) {
            const int d = 1 << t;
            for (int r = d; r < p; r += 2 * d) emit(Reduce{.src = r, .dst = r - d, .chunk = 0});
          }};
}

Schedule binomial_broadcast(int p) { return reversed(binomial_reduce(p)); }

Schedule binomial_tree(int p) { return then(binomial_reduce(p), binomial_broadcast(p)); }

}  // namespace collmark
