/// The kernels by the names that they have on a GPU, for lanes of a CPU grid.
#pragma once

#include <cstddef>
#include <string_view>

namespace collmark {

struct CpuKernel {
  std::string_view symbol;
  void (*run)(const void* argument) = nullptr;  // by every lane, with the same argument
  std::size_t argument_bytes = 0;
  bool takes_job = false;  // it moves data between ranks
};

/// Null if there is no such kernel.
[[nodiscard]] const CpuKernel* cpu_kernel(std::string_view symbol);

}  // namespace collmark
