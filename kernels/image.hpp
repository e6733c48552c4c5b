/// The kernels compiled for GPUs, inside this program. Two sources implement it and the build takes one of them:
/// image/built.cpp where there is an nvcc, image/none.cpp where there is none.
#pragma once

#include <string>

namespace collmark {

/// What cuModuleLoadData takes. Never null: without an nvcc, a text that no GPU takes for code.
[[nodiscard]] const void* kernel_image();

/// The CUDA that it was compiled with, as 13000 for 13.0; a driver must support that. 0: there is no code in it.
[[nodiscard]] int kernel_image_version();

/// "sm_80 sm_90 sm_100"; empty: there is no code in it.
[[nodiscard]] std::string kernel_image_targets();

}  // namespace collmark
