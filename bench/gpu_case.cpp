#include "bench/gpu_case.hpp"

#include "bench/cuda_names.hpp"
#include "bench/library_name.hpp"
#include "collectives/catalogue.hpp"

namespace collmark {

KernelTask kernel_task(const Case& c) {
  if (is_library(c.algorithm)) throw Unsupported("the cuda backend has no library of its own");
  return {.name = kernel_name(c.algorithm),
          .collective = c.collective,
          .ranks = c.ranks,
          .root = c.root,
          .payload = {c.count, c.dtype, c.op},
          .placement = c.placement};
}

GpuCondition condition_of(const Gpus& gpus, int count, const GpuMonitor& monitor) {
  GpuCondition all;
  for (int d = 0; d < count; ++d) all = worst(all, monitor.look(gpus[d].facts().pci));
  return all;
}

}  // namespace collmark
