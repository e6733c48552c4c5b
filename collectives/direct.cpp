/// Direct exchange: every rank reads from every other in one step.
///
///       0 === 1       one_shot   every rank adds up all whole buffers itself.
///       | \ / |       two_shot   rank r adds up chunk r of all ranks (direct reduce-scatter), then
///       | / \ |                  hands it to all (direct all-gather): a parameter server sharded
///       3 === 2                  over the workers themselves.
///
///   Shape    ranks p >= 1; one_shot 1 chunk, 1 step; two_shot p chunks, 2 steps (0 at p = 1).
///   Cost     one_shot (p-1)(alpha + beta n + gamma n); two_shot 2(p-1)(alpha + beta n/p) +
///            (p-1) gamma n/p seconds, n in bytes; reduce-scatter and all-gather one half of it.
///   Order    ranks 0..p-1 at every destination, its own value in its place: the same bits
///            everywhere.
///   Source   the definition; "one-shot" and "two-shot" as in NVIDIA TensorRT-LLM's and MSCCL++'s
///            all-reduce kernels.
#include "collectives/catalogue.hpp"

namespace collmark {

Schedule one_shot(int p) {
  return {.ranks = p, .chunks = 1, .steps = p > 1 ? 1 : 0, .step = [=](int, Emit emit) {
            for (int dst = 0; dst < p; ++dst)
              for (int src = 0; src < p; ++src) emit(Reduce{.src = src, .dst = dst, .chunk = 0});
          }};
}

Schedule direct_reduce_scatter(int p) {
  return {.ranks = p, .chunks = p, .steps = p > 1 ? 1 : 0, .step = [=](int, Emit emit) {
            for (int dst = 0; dst < p; ++dst)
              for (int src = 0; src < p; ++src) emit(Reduce{.src = src, .dst = dst, .chunk = dst});
          }};
}

Schedule direct_all_gather(int p) { return reversed(direct_reduce_scatter(p)); }

Schedule two_shot(int p) { return then(direct_reduce_scatter(p), direct_all_gather(p)); }

}  // namespace collmark
