/// Every kernel by name: what instances.cu compiles, what is launched, what runs on the CPU.
///
/// A symbol is a template's name and its element's, `ring_all_reduce_f32`: that is what a driver looks up in the GPU's code,
/// and cpu_kernels.hpp on the CPU.
#pragma once

#include <string_view>

/// What moves data between ranks: KERNEL(name), each a template over the element that takes a Job.
#define COLLMARK_KERNELS(KERNEL) \
  KERNEL(ring_all_reduce)        \
  KERNEL(ring_reduce_scatter)    \
  KERNEL(ring_all_gather)        \
  KERNEL(ring_ll_all_reduce)     \
  KERNEL(ring_ll_reduce_scatter) \
  KERNEL(ring_ll_all_gather)     \
  KERNEL(tree_all_reduce)        \
  KERNEL(tree_reduce)            \
  KERNEL(tree_broadcast)         \
  KERNEL(tree_ll_all_reduce)     \
  KERNEL(tree_ll_reduce)         \
  KERNEL(tree_ll_broadcast)      \
  KERNEL(direct_all_reduce)      \
  KERNEL(one_shot_all_reduce)    \
  KERNEL(one_shot_ll_all_reduce) \
  KERNEL(two_shot_ll_all_reduce) \
  KERNEL(interpreted)

#define COLLMARK_ELEMENTS(DO, kernel) \
  DO(kernel, f32, float)              \
  DO(kernel, f64, double)             \
  DO(kernel, f16, ::collmark::Half)   \
  DO(kernel, bf16, ::collmark::Brain) \
  DO(kernel, i32, std::int32_t)       \
  DO(kernel, i64, std::int64_t)       \
  DO(kernel, u8, std::uint8_t)

/// What makes and checks the data of one rank, bits whatever they mean: KERNEL(name, argument).
#define COLLMARK_DATA_KERNELS(KERNEL) \
  KERNEL(write_values, Fill)          \
  KERNEL(compare_values, Comparison)

#define COLLMARK_WIDTHS(DO, kernel, argument) \
  DO(kernel, 1, std::uint8_t, argument)       \
  DO(kernel, 2, std::uint16_t, argument)      \
  DO(kernel, 4, std::uint32_t, argument)      \
  DO(kernel, 8, std::uint64_t, argument)

/// What fuses gradients: KERNEL(name), each a template over the element that takes a Packing.
#define COLLMARK_PACKING_KERNELS(KERNEL) \
  KERNEL(pack_bucket)                    \
  KERNEL(unpack_bucket)

/// What tells how far apart two blocks are: KERNEL(name), of no element; each takes Hops.
#define COLLMARK_HOP_KERNELS(KERNEL) \
  KERNEL(flag_hops)                  \
  KERNEL(low_latency_hops)           \
  KERNEL(word_hops)

namespace collmark {

#define COLLMARK_NAME(name) name,
enum class Kernel { COLLMARK_KERNELS(COLLMARK_NAME) };
#undef COLLMARK_NAME

[[nodiscard]] std::string_view name(Kernel kernel);

}  // namespace collmark
