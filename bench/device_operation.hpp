/// A collective on devices as measurement sees it: its ranks' inputs written and results compared where they lie.
#pragma once

#include <memory>
#include <vector>

#include "bench/device_data.hpp"
#include "bench/device_work.hpp"
#include "bench/exact_data.hpp"
#include "bench/operation.hpp"
#include "bench/test_hooks.hpp"
#include "kernels/at_once.hpp"
#include "kernels/device_collective.hpp"
#include "kernels/gpu_clock.hpp"

namespace collmark {

class DeviceOperation : public Operation, public DeviceWork, private OwnClock {
 public:
  struct What {
    Payload payload = {};
    Placement placement = Placement::out_of_place;
    HostPatience patience = {};
    bool evicts = false;  // evict() will be called
    TestHooks hooks = {};
  };
  /// The collective must outlive it.
  ///   Throws   as ExactData; Unsupported if memory runs out
  DeviceOperation(DeviceCollective& collective, const What& what);

  /// Waits.  Throws Error{timed_out} if a rank has given up, else as GpuClock::finish and DeviceCollective::watch.
  void settle() const;
  /// From here on run() replays what one run of the collective queues, as one graph for each device.
  /// Queues its first launch, which brings it to the device; whoever shares the collective with other processes waits for that
  /// once all have come so far.
  ///   Throws   Unsupported if the driver makes no graph of it
  void capture();
  void let_go() noexcept override;
  [[nodiscard]] bool idle() const override;

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
  [[nodiscard]] std::chrono::nanoseconds tick() const override { return GpuClock::kTick; }
  void replay();
  void make_graphs();
  void spoil();
  [[nodiscard]] WrongElement wrong_element(int rank, const ExactData::Stretch& stretch,
                                           std::int64_t position) const;
  template <class Visit>
  void for_each_rank(Visit visit) const;

  DeviceCollective& collective_;
  What what_;
  ExactData data_;
  std::vector<std::unique_ptr<DeviceData>> on_device_;  // [device]
  std::vector<GpuMemory> to_walk_;                      // [device]
  std::vector<std::unique_ptr<GpuGraph>> graphs_;       // [device]; none: run() launches
  std::unique_ptr<AtOnce> at_once_;                     // launches graphs of several devices
  std::unique_ptr<GpuClock> clock_;
  int generation_ = 0;
  int runs_ = 0;
  bool spoils_ = false;  // after this reading
};

}  // namespace collmark
