/// How far apart the GPUs of this process are.
#pragma once

#include <vector>

#include "bench/link_matrix.hpp"
#include "kernels/gpu.hpp"
#include "kernels/gpu_link.hpp"

namespace collmark {

/// Every GPU and itself, and every pair both ways: alone, and as many pairs as can be formed at once. Pairs that do not
/// reach each other's memory have the reason. By first, then by second.
///   Throws   as GpuLink; then devices may still be at work, and what they use is left to them.
[[nodiscard]] std::vector<PairLink> measure_gpu_links(Gpus& gpus, const GpuLink::Options& options);

}  // namespace collmark
