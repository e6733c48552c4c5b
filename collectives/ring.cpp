/// Ring reduce-scatter, all-gather and all-reduce.
///
///      0 ---> 1     Partial sums travel clockwise. In step t rank r hands on the chunk it has just
///      ^      |     added to; after p-1 steps rank r holds the whole sum of chunk r. All-gather
///      |      v     sends the finished chunks round the same way once more.
///      3 <--- 2
///
///   Shape    ranks p >= 1; p chunks; p-1 steps each, 2(p-1) for all-reduce.
///   Cost     2(p-1)(alpha + beta n/p) + (p-1) gamma n/p seconds, n in bytes.
///   Order    rank order around the ring, fixed (bitwise reproducible).
///   Source   Patarasuk & Yuan 2009, J. Parallel Distrib. Comput. 69(2).
#include "collectives/catalogue.hpp"

namespace collmark {

Schedule ring_reduce_scatter(int p) {
  return {.ranks = p,
          .chunks = p,
          .steps = p - 1,
          .step =
              [=](int t, Emit emit) {
                for (int r = 0; r < p; ++r)
                  emit(Reduce{.src = r, .dst = mod(r + 1, p), .chunk = mod(r - t - 1, p)});
              },
          .traffic = same_every_step(p - 1, Verb::reduce)};
}

Schedule ring_all_gather(int p) {
  return {.ranks = p,
          .chunks = p,
          .steps = p - 1,
          .step =
              [=](int t, Emit emit) {
                for (int r = 0; r < p; ++r)
                  emit(Copy{.src = r, .dst = mod(r + 1, p), .chunk = mod(r - t, p)});
              },
          .traffic = same_every_step(p - 1, Verb::copy)};
}

Schedule ring_all_reduce(int p) { return then(ring_reduce_scatter(p), ring_all_gather(p)); }

}  // namespace collmark
