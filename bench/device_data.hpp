/// Inputs written and results compared on the device where they lie.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/exact_data.hpp"
#include "kernels/data.hpp"
#include "kernels/gpu.hpp"

namespace collmark {

/// What a device needs to write and to compare: the patterns, and room for verdicts.
class DeviceData {
 public:
  /// `stretches`: that are compared at a time.
  DeviceData(GpuStream& stream, const ExactData& data, std::size_t stretches);

  /// Queues the writing of one stretch of a buffer.
  void write(const ExactData::Stretch& stretch, std::byte* buffer);
  /// Queues a comparison; its verdict is the next of the list.
  void compare(const ExactData::Stretch& stretch, std::byte* buffer);
  /// Queues the copy of all verdicts since the last time to the host.
  void fetch();
  /// Of comparison `index` since the last fetch(), once the stream is done.
  [[nodiscard]] WrongCount verdict(std::size_t index) const;

 private:
  [[nodiscard]] Stretch on_device(const ExactData::Stretch& stretch, std::byte* buffer) const;
  [[nodiscard]] int most_blocks() const;
  [[nodiscard]] Bytes verdict_bytes(std::size_t stretches) const;
  [[nodiscard]] Grid grid(std::int64_t count) const;
  [[nodiscard]] std::string kernel(std::string_view name) const;

  GpuStream& stream_;
  std::size_t element_;             // [bytes]
  std::vector<std::byte> on_host_;  // all patterns, one after the other
  std::unique_ptr<PinnedMemory> found_;
  GpuMemory patterns_, verdicts_;  // verdicts [stretch x block]. Given back first, which waits
                                   // for copies to the host
  std::vector<int> compared_, fetched_;  // [stretch]: its blocks
};

}  // namespace collmark
