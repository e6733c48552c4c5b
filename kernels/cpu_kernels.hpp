/// The kernels by the names that they have on a GPU, for lanes of a CPU grid.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace collmark {

struct CpuKernel {
  std::string_view symbol;
  void (*run)(const void* argument) = nullptr;  // by every lane, with the same argument
  std::size_t argument_bytes = 0;
  bool takes_job = false;  // it moves data between ranks
};

/// All that the program was linked with: cpu_kernels.cpp, or the few of probe/kernels_of_f32.cpp.
[[nodiscard]] std::span<const CpuKernel> cpu_kernels();

/// Null if there is no such kernel.
[[nodiscard]] inline const CpuKernel* cpu_kernel(std::string_view symbol) {
  for (const CpuKernel& kernel : cpu_kernels())
    if (kernel.symbol == symbol) return &kernel;
  return nullptr;
}

}  // namespace collmark
