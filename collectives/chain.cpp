/// Pipelined chain: reduce and broadcast along one line of ranks, in segments.
///
///     3 --> 2 --> 1 --> 0       Rank r adds segment j from its right neighbour while segment j-1,
///      j+2    j+1    j          already added, moves on to its left one.
///
///   Shape    ranks p >= 1; s segments (default 8) = chunks; p-2+s steps (0 at p = 1).
///   Cost     (p-2+s)(alpha + beta n/s) (+ the same times gamma n/s for reduce), n in bytes.
///   Order    down the line, fixed.
///   Source   Sanders & Sibeyn 2003, Inf. Process. Lett. 86(1).
#include "collectives/catalogue.hpp"

namespace collmark {

Schedule chain_reduce(int p, int s) {
  return {.ranks = p, .chunks = s, .steps = p > 1 ? p - 2 + s : 0, .step = [=](int t, Emit emit) {
            for (int r = 1; r < p; ++r)
              if (const int j = t - (p - 1 - r); j >= 0 && j < s)  // the last rank starts
                emit(Reduce{.src = r, .dst = r - 1, .chunk = j});
          }};
}

Schedule chain_broadcast(int p, int s) { return reversed(chain_reduce(p, s)); }

}  // namespace collmark
