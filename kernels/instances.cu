/// Every kernel for every element, compiled for the GPU.
#include "kernels/kernel_list.hpp"
#include "kernels/kernels.hpp"

#define COLLMARK_SYMBOL(kernel, element, T)                                                  \
  extern "C" __global__ void kernel##_##element(const __grid_constant__ collmark::Job job) { \
    collmark::kernel<T>(job);                                                                \
  }
#define COLLMARK_INSTANCE(kernel) COLLMARK_ELEMENTS(COLLMARK_SYMBOL, kernel)
COLLMARK_KERNELS(COLLMARK_INSTANCE)

#define COLLMARK_DATA_SYMBOL(kernel, width, T, Argument)     \
  extern "C" __global__ void kernel##_##width(               \
      const __grid_constant__ collmark::Argument argument) { \
    collmark::kernel<T>(argument);                           \
  }
#define COLLMARK_DATA_INSTANCE(kernel, argument) \
  COLLMARK_WIDTHS(COLLMARK_DATA_SYMBOL, kernel, argument)
COLLMARK_DATA_KERNELS(COLLMARK_DATA_INSTANCE)

#define COLLMARK_PACKING_SYMBOL(kernel, element, T)                                               \
  extern "C" __global__ void kernel##_##element(const __grid_constant__ collmark::Packing what) { \
    collmark::kernel<T>(what);                                                                    \
  }
#define COLLMARK_PACKING_INSTANCE(kernel) COLLMARK_ELEMENTS(COLLMARK_PACKING_SYMBOL, kernel)
COLLMARK_PACKING_KERNELS(COLLMARK_PACKING_INSTANCE)

#define COLLMARK_HOP_SYMBOL(kernel)                                                \
  extern "C" __global__ void kernel(const __grid_constant__ collmark::Hops what) { \
    collmark::kernel(what);                                                        \
  }
COLLMARK_HOP_KERNELS(COLLMARK_HOP_SYMBOL)
