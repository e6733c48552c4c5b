/// Parameter servers: everybody pushes, one or several ranks add up, everybody pulls.
///
///   parameter_server            rank 0 serves and works too (DataParallel): a star, twice.
///   parameter_server_dedicated  rank 0 only serves: the tutorial's C(N-1).
///   sharded_parameter_server:k  ranks 0..k-1 only serve, server i holds shard i of k:
///
///      server 0   server 1         push: server i copies the first worker's shard i, then adds
///        | \       / |                   the other workers' to it
///        |   \   /   |             pull: server i sends shard i to every worker
///        |   /   \   |
///      worker 2   worker 3
///
///   Shape    ranks p >= 1, servers k < p (default p/2, at least 1); k chunks; 2 steps (0 at p = 1,
///            where the only rank is a worker).
///   Cost     2 max(k, p-k)(alpha + beta n/k) + (p-k-1) gamma n/k seconds, n in bytes;
///            2(p-1)(alpha + beta n) + (p-1) gamma n for parameter_server.
///   Order    worker order, fixed; parameter_server starts with rank 0's own value.
///   Throws   Unsupported if no rank is left to work.
///   Source   Li et al., OSDI 2014; Jiang et al. (BytePS), OSDI 2020.
#include <fmt/format.h>

#include "collectives/catalogue.hpp"

namespace collmark {

Schedule parameter_server(int p) { return then(star_reduce(p), star_broadcast(p)); }

Schedule parameter_server_dedicated(int p) { return sharded_parameter_server(p, 1); }

Schedule sharded_parameter_server(int p, int k) {
  if (p == 1) return {};
  if (k >= p)
    throw Unsupported(
        fmt::format("sharded_parameter_server: {} servers of {} ranks leave no worker", k, p));
  const auto push = [=](int, Emit emit) {
    for (int server = 0; server < k; ++server) {
      emit(Copy{.src = k, .dst = server, .chunk = server});
      for (int worker = k + 1; worker < p; ++worker)
        emit(Reduce{.src = worker, .dst = server, .chunk = server});
    }
  };
  const Schedule pushes{.ranks = p, .chunks = k, .steps = 1, .step = push, .servers = k};
  return then(pushes, reversed(pushes));
}

}  // namespace collmark
