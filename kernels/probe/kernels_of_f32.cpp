#include "kernels/cpu_kernels.hpp"
#include "kernels/kernel_list.hpp"
#include "kernels/kernels.hpp"

namespace collmark {
namespace {

#define COLLMARK_F32(kernel)                                                                 \
  CpuKernel{#kernel "_f32",                                                                  \
            [](const void* argument) { kernel<float>(*static_cast<const Job*>(argument)); }, \
            sizeof(Job)},
#define COLLMARK_HOP(kernel)                                                                    \
  CpuKernel{#kernel, [](const void* argument) { kernel(*static_cast<const Hops*>(argument)); }, \
            sizeof(Hops)},
constexpr CpuKernel kKernels[] = {COLLMARK_KERNELS(COLLMARK_F32)
                                      COLLMARK_HOP_KERNELS(COLLMARK_HOP)};
#undef COLLMARK_F32
#undef COLLMARK_HOP

}  // namespace

std::span<const CpuKernel> cpu_kernels() { return kKernels; }

}  // namespace collmark
