/// Hierarchical ring all-reduce: rings inside the nodes, then between them, then inside again.
///
///     node 0    0 -> 1 -> 2 --.      1. reduce-scatter in every node: local rank l holds part l
///               |    |    |          2. all-reduce of part l among the local ranks l of all nodes
///     node 1    3 -> 4 -> 5 --.      3. all-gather in every node
///
///   Shape    ranks p = m n: m nodes of n local ranks, rank = node n + local; m n chunks, part l is
///            chunks [l m, l m + m); 2(n-1) + 2(m-1) steps. Default: the squarest grid.
///   Cost     2(n-1)(alpha + beta N/n) + 2(m-1)(alpha' + beta' N/mn) + gamma N(p-1)/p seconds, N in
///            bytes, primes for the links between nodes.
///   Order    around the rings, fixed (bitwise reproducible).
///   Throws   Unsupported if m n is not p.
///   Source   composition of Patarasuk & Yuan 2009; as in Horovod and Baidu's all-reduce.
#include <fmt/format.h>

#include "collectives/catalogue.hpp"

namespace collmark {

Schedule hierarchical_ring(int p, int m, int n) {
  if (static_cast<long>(m) * n != p)
    throw Unsupported(fmt::format("hierarchical_ring: a grid of {}x{} is not {} ranks", m, n, p));
  Schedule inside = ring_reduce_scatter(n);
  inside.step = [=, local = inside.step](int t, Emit emit) {
    for (int node = 0; node < m; ++node)
      local(t, [&](const Transfer& x) {
        emit({node * n + x.src, node * n + x.dst, x.src_chunk * m, x.dst_chunk * m, x.verb, m});
      });
  };
  Schedule between = ring_all_reduce(m);
  between.step = [=, remote = between.step](int t, Emit emit) {
    for (int l = 0; l < n; ++l)
      remote(t, [&](const Transfer& x) {
        emit({x.src * n + l, x.dst * n + l, l * m + x.src_chunk, l * m + x.dst_chunk, x.verb});
      });
  };
  inside.ranks = between.ranks = inside.chunks = between.chunks = p;
  return then(then(inside, between), reversed(inside));
}

}  // namespace collmark
