/// Swing all-reduce: recursive halving and doubling whose partners stay near on a ring or torus.
///
///     step 0   0<->1  2<->3  4<->5  6<->7      Even ranks go right by rho(t), odd ranks left, with
///     step 1   0<->7  2<->1  4<->3  6<->5      rho = 1, -1, 3, -5, 11, ...: the distance grows by
///     step 2   0<->3  2<->5  4<->7  6<->1      about two, but swings from side to side.
///
///   The ranks that rank r can still reach after step t are a class of 2^(l-t-1) ranks. `place`
///   numbers the ranks so that all those classes are runs of chunks.
///
///   Shape    ranks p = 2^l; p chunks; 2l steps.
///   Cost     2l alpha + X 2 beta n(p-1)/p + gamma n(p-1)/p seconds, n in bytes, X = congestion on
///            the topology.
///   Order    fixed by the tree of each chunk; all-gather copies one owner's bits to all.
///   Throws   Unsupported if p is no power of two.
///   Source   De Sensi, Bonato, Saam, Hoefler, NSDI 2024.
#include <fmt/format.h>

#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

/// (1 - (-2)^(t+1)) / 3
int rho(int t) { return (1 + (t % 2 == 0 ? 2 : -2) * (1 << t)) / 3; }

int partner(int rank, int t, int p) {
  return mod(rank % 2 == 0 ? rank + rho(t) : rank - rho(t), p);
}

/// Even ranks that agree in their lowest bits stay together longest, so those bits come first; an
/// odd rank stands beside the even one it meets last.
int place(int rank, int l) {
  const int even = rank % 2 == 0 ? rank : partner(rank, l - 1, 1 << l);
  int at = 0;
  for (int bit = 1; bit < l; ++bit) at = 2 * at + (even >> bit & 1);
  return 2 * at + rank % 2;
}

}  // namespace

Schedule swing(int p) {
  const int l = floor_log2(p);
  if (p != 1 << l) throw Unsupported(fmt::format("swing needs a power of two, not {} ranks", p));
  const Schedule scatter{.ranks = p, .chunks = p, .steps = l, .step = [=](int t, Emit emit) {
                           const int sent = p >> (t + 1);
                           for (int r = 0; r < p; ++r) {
                             const int dst = partner(r, t, p);
                             const int first = place(dst, l) / sent * sent;
                             emit(Reduce{.src = r, .dst = dst, .chunk = first, .count = sent});
                           }
                         }};
  return then(scatter, reversed(scatter));
}

}  // namespace collmark
