/// A case of a sweep in the words of the kernels, and what of its GPUs stands in the row: shared by one process for all GPUs
/// and a process for each.
#pragma once

#include "bench/backend.hpp"
#include "kernels/gpu.hpp"
#include "kernels/gpu_condition.hpp"
#include "kernels/kernel_job.hpp"

namespace collmark {

/// Throws Unsupported for what is no kernel.
[[nodiscard]] KernelTask kernel_task(const Case& c);

/// In what condition GPUs [0, count) are, the worst of them.
[[nodiscard]] GpuCondition condition_of(const Gpus& gpus, int count, const GpuMonitor& monitor);

}  // namespace collmark
