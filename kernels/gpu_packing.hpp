/// Gradients into buckets and back on a GPU (packing.hpp): the lists that the kernels follow, and their launches.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "collectives/dtype.hpp"
#include "kernels/gpu.hpp"
#include "kernels/packing.hpp"
#include "kernels/tables.hpp"

namespace collmark {

/// Of one tensor: where it lies, and where in a bucket. Both at a multiple of the element.
struct TensorPart {
  std::byte* tensor = nullptr;
  std::byte* packed = nullptr;
  Elements count;
};

/// What a launch of `blocks` blocks is told; its lists go to `tables`.
[[nodiscard]] Packing packing_of(std::span<const TensorPart> parts, Dtype dtype, int blocks,
                                 Tables& tables);

class GpuPacking {
 public:
  /// Queues the copy of its lists. The stream must outlive it.
  GpuPacking(GpuStream& stream, Dtype dtype, std::span<const TensorPart> parts);

  // These queue one launch each, or none where nothing would change: no element, or no other place and no division.
  void pack(int divisor = 1) { launch("pack_bucket", divisor); }
  void unpack(int divisor = 1) { launch("unpack_bucket", divisor); }

  [[nodiscard]] Bytes bytes() const;
  [[nodiscard]] Grid grid() const { return grid_; }

 private:
  void launch(std::string_view kernel, int divisor);
  [[nodiscard]] std::string symbol(std::string_view kernel) const;

  GpuStream& stream_;
  Dtype dtype_;
  bool copies_;  // some part lies elsewhere in the bucket
  Grid grid_;
  std::vector<std::byte> on_host_;  // outlives the copy: giving back what follows waits for it
  GpuMemory tables_;
  Packing what_;
};

}  // namespace collmark
