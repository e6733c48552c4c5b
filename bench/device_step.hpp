/// One training step on GPUs as measurement sees it: all ranks' gradients written and compared where they lie, timed by the
/// GPUs' own clocks, with an event between the phases of each bucket.
#pragma once

#include <memory>
#include <vector>

#include "bench/device_data.hpp"
#include "bench/device_step_job.hpp"
#include "bench/device_work.hpp"
#include "bench/exact_data.hpp"
#include "bench/step_phases.hpp"
#include "bench/test_hooks.hpp"
#include "kernels/gpu_clock.hpp"

namespace collmark {

class DeviceStep : public Operation, public DeviceWork, private OwnClock {
 public:
  struct Options {
    HostPatience patience = {};
    TestHooks hooks = {};
  };
  /// The job must outlive it.
  ///   Throws   as ExactData; Unsupported if memory runs out
  DeviceStep(DeviceStepJob& job, const Options& options);

  /// Waits.  Throws Error{timed_out} if a rank has given up, else as GpuClock::finish.
  void settle() const;
  void let_go() noexcept override;
  [[nodiscard]] bool idle() const override;
  /// Of every run so far, bucket after bucket, on the device that took longest.
  [[nodiscard]] const std::vector<BucketTimes>& times() const { return times_; }

  [[nodiscard]] OperationTraits traits() const override {
    return {.synchronising = false, .keeps_input = false};
  }
  void rewrite_input() override;
  void run() override;
  [[nodiscard]] Check check() const override;
  void evict() override;
  [[nodiscard]] Moved moved() const override { return {}; }
  [[nodiscard]] OwnClock* own_clock() override { return this; }

 private:
  using Events = std::vector<std::unique_ptr<GpuEvent>>;
  void start() override { clock_->start(); }
  [[nodiscard]] std::chrono::nanoseconds stop() override;
  [[nodiscard]] std::chrono::nanoseconds tick() const override { return GpuClock::kTick; }
  void mark(std::size_t event);
  void read_times() const;
  void spoil();
  [[nodiscard]] WrongElement wrong_element(int rank, std::size_t arena,
                                           const ExactData::Stretch& stretch,
                                           std::int64_t position) const;

  DeviceStepJob& job_;
  Options options_;
  std::vector<ExactData> data_;                                      // [arena]
  std::vector<std::vector<std::unique_ptr<DeviceData>>> on_device_;  // [arena][device]
  std::unique_ptr<GpuClock> clock_;
  std::vector<Events> events_;              // [device][start, then three for each bucket]
  mutable std::vector<BucketTimes> times_;  // read once the events have passed
  mutable bool to_read_ = false;
  int generation_ = 0;
  int runs_ = 0;
};

}  // namespace collmark
