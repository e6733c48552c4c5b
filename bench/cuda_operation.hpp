/// One collective on all GPUs as measurement sees it: inputs written and results compared where they lie.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bench/exact_data.hpp"
#include "bench/operation.hpp"
#include "bench/test_hooks.hpp"
#include "kernels/data.hpp"
#include "kernels/gpu_clock.hpp"
#include "kernels/launch.hpp"

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
  [[nodiscard]] Verdict verdict(std::size_t index) const;

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

class CudaOperation : public Operation, private OwnClock {
 public:
  struct What {
    KernelTask task;
    GpuTuning tuning = {};
    HostPatience patience = {};
    bool evicts = false;  // evict() will be called
    TestHooks hooks = {};
  };
  ///   Throws   as GpuCollective and ExactData
  CudaOperation(Gpus& gpus, const What& what);

  /// Runs once more, and counts what the busiest rank sends or receives. Empty if the driver does not allow it.
  [[nodiscard]] std::optional<Bytes> count_busiest();
  [[nodiscard]] const GpuCollective& collective() const { return collective_; }
  /// Nothing is under way on any device: the memory may be given back without waiting.
  [[nodiscard]] bool idle() const;

  [[nodiscard]] OperationTraits traits() const override;
  void rewrite_input() override;
  void run() override;
  [[nodiscard]] Check check() const override;
  void evict() override;
  [[nodiscard]] Moved moved() const override { return {}; }
  [[nodiscard]] OwnClock* own_clock() override { return this; }

 private:
  void start() override { clock_->start(); }
  [[nodiscard]] std::chrono::nanoseconds stop() override;
  /// Waits.  Throws Error{timed_out} if a rank has given up, else as GpuClock::finish.
  void settle() const;
  void spoil();
  [[nodiscard]] WrongElement wrong_element(int rank, const ExactData::Stretch& stretch,
                                           std::int64_t position) const;

  What what_;
  mutable GpuCollective collective_;  // queues copies when it is asked
  ExactData data_;
  std::vector<std::unique_ptr<DeviceData>> on_device_;  // [device]
  std::vector<GpuMemory> to_walk_;                      // [device]
  std::unique_ptr<GpuClock> clock_;
  int generation_ = 0;
  int runs_ = 0;
};

}  // namespace collmark
