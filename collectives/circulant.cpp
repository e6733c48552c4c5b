/// Circulant all-reduce: ceil(log2 p) rounds each way for any p, no folding.
///
///   p = 5    skip 3, 2, 1        The skips are p halved, rounded up. Rank r sends what belongs to
///   0 -> 3  1 -> 4  2 -> 0 ...   ranks [r+skip, r+width) to rank r+skip, then width = skip, until
///   0 -> 2  1 -> 3  2 -> 4 ...   only chunk r is left. All-gather is the same, backwards.
///
///   Shape    ranks p >= 1; p chunks; 2 ceil(log2 p) steps.
///   Cost     2L alpha + 2 beta n(p-1)/p + gamma n(p-1)/p seconds, n in bytes.
///   Source   Traff, doi 10.34726/10760.
#include <algorithm>

#include "collectives/catalogue.hpp"

namespace collmark {
Schedule circulant(int p) {
  const auto halved = [=](int times) { return (p + (1 << times) - 1) >> times; };  // rounded up
  const auto halve = [=](int t, Emit emit) {
    const int skip = halved(t + 1), sent = halved(t) - skip;
    for (int r = 0; r < p; ++r) {
      const int dst = mod(r + skip, p), before_wrap = std::min(sent, p - dst);
      emit(Reduce{r, dst, dst, before_wrap});
      if (before_wrap < sent) emit(Reduce{r, dst, 0, sent - before_wrap});
    }
  };
  const Schedule scatter{.ranks = p, .chunks = p, .steps = ceil_log2(p), .step = halve};
  return then(scatter, reversed(scatter));
}
}  // namespace collmark
