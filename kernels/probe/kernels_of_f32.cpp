#include <algorithm>
#include <iterator>

#include "kernels/cpu_kernels.hpp"
#include "kernels/kernel_list.hpp"
#include "kernels/kernels.hpp"

namespace collmark {
namespace {

#define COLLMARK_F32(kernel)                                                                 \
  CpuKernel{#kernel "_f32",                                                                  \
            [](const void* argument) { kernel<float>(*static_cast<const Job*>(argument)); }, \
            sizeof(Job)},
constexpr CpuKernel kKernels[] = {COLLMARK_KERNELS(COLLMARK_F32)};
#undef COLLMARK_F32

}  // namespace

const CpuKernel* cpu_kernel(std::string_view symbol) {
  const auto* const found =
      std::find_if(std::begin(kKernels), std::end(kKernels),
                   [=](const CpuKernel& kernel) { return kernel.symbol == symbol; });
  return found == std::end(kKernels) ? nullptr : found;
}

}  // namespace collmark
