/// What GPUs, and the kernels that run on them, are called in rows.
#pragma once

#include <string>

#include "kernels/gpu.hpp"
#include "kernels/kernel_name.hpp"

namespace collmark {

/// Whose collective it is. A device that is none takes the credit itself, so that no row of it passes for a GPU's.
[[nodiscard]] std::string implementation(const Gpu& gpu);

/// Of an algorithm as asked for, "ring/links".  Throws Unsupported for a variant that GPUs have no kernel for.
[[nodiscard]] KernelName kernel_name(const std::string& asked);

/// One line: what it is, and which.
[[nodiscard]] std::string describe(const Gpu& gpu);

}  // namespace collmark
