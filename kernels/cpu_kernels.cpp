#include "kernels/cpu_kernels.hpp"

#include "kernels/kernel_list.hpp"
#include "kernels/kernels.hpp"

namespace collmark {
namespace {

#define COLLMARK_SYMBOL(kernel, element, T)                                              \
  CpuKernel{#kernel "_" #element,                                                        \
            [](const void* argument) { kernel<T>(*static_cast<const Job*>(argument)); }, \
            sizeof(Job), true},
#define COLLMARK_INSTANCE(kernel) COLLMARK_ELEMENTS(COLLMARK_SYMBOL, kernel)

#define COLLMARK_DATA_SYMBOL(kernel, width, T, Argument)                                      \
  CpuKernel{#kernel "_" #width,                                                               \
            [](const void* argument) { kernel<T>(*static_cast<const Argument*>(argument)); }, \
            sizeof(Argument), false},
#define COLLMARK_DATA_INSTANCE(kernel, argument) \
  COLLMARK_WIDTHS(COLLMARK_DATA_SYMBOL, kernel, argument)

#define COLLMARK_PACKING_SYMBOL(kernel, element, T)                                          \
  CpuKernel{#kernel "_" #element,                                                            \
            [](const void* argument) { kernel<T>(*static_cast<const Packing*>(argument)); }, \
            sizeof(Packing), false},
#define COLLMARK_PACKING_INSTANCE(kernel) COLLMARK_ELEMENTS(COLLMARK_PACKING_SYMBOL, kernel)

#define COLLMARK_HOP_SYMBOL(kernel)                                                             \
  CpuKernel{#kernel, [](const void* argument) { kernel(*static_cast<const Hops*>(argument)); }, \
            sizeof(Hops), false},

constexpr CpuKernel kKernels[] = {COLLMARK_KERNELS(COLLMARK_INSTANCE)
                                      COLLMARK_DATA_KERNELS(COLLMARK_DATA_INSTANCE)
                                          COLLMARK_PACKING_KERNELS(COLLMARK_PACKING_INSTANCE)
                                              COLLMARK_HOP_KERNELS(COLLMARK_HOP_SYMBOL)};

}  // namespace

std::span<const CpuKernel> cpu_kernels() { return kKernels; }

}  // namespace collmark
