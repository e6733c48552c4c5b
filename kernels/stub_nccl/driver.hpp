/// The driver that the process has loaded, asked by the names it exports: as NCCL does it.
#pragma once

#include "kernels/stub_driver/host_work.hpp"

namespace collmark::stub {

struct LoadedDriver {
  cu::Status (*get_current)(cu::Context*) = nullptr;
  cu::Status (*set_current)(cu::Context) = nullptr;
  cu::Status (*launch_host)(cu::Stream, const cu::HostWork*) = nullptr;
  void (*never_ends)() = nullptr;
  cu::Status (*allocate)(cu::Pointer*, std::size_t) = nullptr;
  cu::Status (*release)(cu::Pointer) = nullptr;
};
/// Of COLLMARK_CUDA_DRIVER; null pointers if that is not loaded.
[[nodiscard]] const LoadedDriver& loaded_driver();

}  // namespace collmark::stub
