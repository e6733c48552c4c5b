/// Memory of several GPUs that kernels of several processes reach: CUDA IPC.
#pragma once

#include <vector>

#include "kernels/gpu.hpp"
#include "kernels/gpu_peers.hpp"

namespace collmark {

/// One piece on every peer's GPU, and where this process reaches each.
class IpcMemory {
 public:
  /// Called by all peers, each for its own GPU.
  ///   Throws   Unsupported at all of them if one has no room, or cannot open what another has: then it names both
  IpcMemory(const Gpu& gpu, Bytes size, GpuPeers& peers);
  /// Called by all peers, when no kernel that uses it is under way: memory that another process still has open must
  /// not be given back, so they wait for each other in between.
  ~IpcMemory();
  IpcMemory(const IpcMemory&) = delete;
  IpcMemory& operator=(const IpcMemory&) = delete;

  /// Aligned to 256 bytes.
  [[nodiscard]] std::byte* of(int rank) const { return of_[static_cast<std::size_t>(rank)]; }

 private:
  void open_all();
  void close_all();

  const Gpu& gpu_;
  GpuPeers& peers_;
  GpuMemory mine_;
  std::vector<cu::Pointer> opened_;
  std::vector<std::byte*> of_;  // [rank]
};

}  // namespace collmark
