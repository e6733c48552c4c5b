/// Every kernel for every element type, compiled for the GPU.
#include "kernels/direct.hpp"
#include "kernels/ring.hpp"

namespace collmark {

#define COLLMARK_INSTANCE(T)                          \
  template __global__ void ring_all_reduce<T>(Job);   \
  template __global__ void direct_all_reduce<T>(Job); \
  template __global__ void one_shot_all_reduce<T>(Job);

COLLMARK_INSTANCE(float)
COLLMARK_INSTANCE(double)
COLLMARK_INSTANCE(Half)
COLLMARK_INSTANCE(Brain)
COLLMARK_INSTANCE(std::int32_t)
COLLMARK_INSTANCE(std::int64_t)
COLLMARK_INSTANCE(std::uint8_t)

}  // namespace collmark
