/// What GPUs, and the kernels that run on them, are called in rows.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kernels/gpu.hpp"
#include "kernels/kernel_name.hpp"

namespace collmark {

/// Whose collective it is. A device that is none takes the credit itself, so that no row of it passes for a GPU's.
[[nodiscard]] std::string implementation(const Gpu& gpu);

/// Of an algorithm as asked for, "ring/links".  Throws Unsupported for a variant that GPUs have no kernel for.
[[nodiscard]] KernelName kernel_name(const std::string& asked);

/// One line: what it is, and which.
[[nodiscard]] std::string describe(const Gpu& gpu);

/// For a record: a line for each, with the ranks that it had of each number of ranks; then those that cannot be used.
[[nodiscard]] std::vector<std::string> describe(const Gpus& gpus, const std::set<int>& ranks);

}  // namespace collmark
