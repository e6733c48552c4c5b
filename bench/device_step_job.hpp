/// One training step's communication on GPUs: where everything lies, and what is queued for each bucket.
///
///   of each bucket    pack (one launch on every device) | all-reduce in place | unpack
///
/// Who all-reduces is the caller's choice: kernels of ours, or a library.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "bench/step_work.hpp"
#include "kernels/device_collective.hpp"
#include "kernels/gpu_packing.hpp"
#include "kernels/launch.hpp"

namespace collmark {

/// An all-reduce of one bucket, in place, in the streams and buffers of `place`.
using MakeAllReduce =
    std::function<std::unique_ptr<DeviceCollective>(const Bucket& bucket, const GpuPlace& place)>;

class DeviceStepJob {
 public:
  ///   Throws   Unsupported if memory runs out, or as `make`
  DeviceStepJob(Gpus& gpus, StepWork work, const MakeAllReduce& make);

  [[nodiscard]] const StepWork& work() const { return work_; }
  [[nodiscard]] int ranks() const { return spread_.ranks; }
  [[nodiscard]] int devices() const { return spread_.devices(); }
  [[nodiscard]] int device_of(int rank) const { return spread_.device_of(rank); }
  [[nodiscard]] const std::vector<GpuStream*>& streams() const { return streams_; }
  [[nodiscard]] DeviceCollective& all_reduce(std::size_t bucket) { return *all_reduces_[bucket]; }
  [[nodiscard]] GpuPacking& packing(std::size_t bucket, int device) {
    return *packings_[bucket][static_cast<std::size_t>(device)];
  }
  /// A rank's gradients of one dtype.
  [[nodiscard]] std::byte* arena(int rank, std::size_t arena) const;
  [[nodiscard]] std::byte* gradient(int rank, const Piece& piece) const;

 private:
  struct Memory {                      // of one rank
    std::vector<GpuMemory> gradients;  // per arena
    std::vector<GpuMemory> buffers;
  };
  [[nodiscard]] std::byte* bucket(int rank, std::size_t bucket) const;
  [[nodiscard]] std::vector<TensorPart> parts(std::size_t bucket, int device) const;

  StepWork work_;
  RankSpread spread_;
  std::vector<std::unique_ptr<GpuStream>> owned_streams_;           // [device]
  std::vector<GpuStream*> streams_;                                 // [device]
  std::vector<Memory> memory_;                                      // [rank]
  std::vector<std::unique_ptr<DeviceCollective>> all_reduces_;      // [bucket]
  std::vector<std::vector<std::unique_ptr<GpuPacking>>> packings_;  // [bucket][device]
};

}  // namespace collmark
