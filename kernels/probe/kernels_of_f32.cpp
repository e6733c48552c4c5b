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
#define COLLMARK_DATA(kernel, Argument)                                       \
  CpuKernel{#kernel "_4",                                                     \
            [](const void* argument) {                                        \
              kernel<std::uint32_t>(*static_cast<const Argument*>(argument)); \
            },                                                                \
            sizeof(Argument)},
constexpr CpuKernel kKernels[] = {COLLMARK_KERNELS(COLLMARK_F32) COLLMARK_DATA_KERNELS(
    COLLMARK_DATA) COLLMARK_HOP_KERNELS(COLLMARK_HOP)};
#undef COLLMARK_F32
#undef COLLMARK_DATA
#undef COLLMARK_HOP

}  // namespace

std::span<const CpuKernel> cpu_kernels() { return kKernels; }

}  // namespace collmark
