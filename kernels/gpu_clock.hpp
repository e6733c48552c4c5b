/// Starts the streams of several devices together, times what they do by the devices' own clocks, and waits for it.
///
///   stream     wait for the gate | start event | launches ... | end event
///   host       queues all of that, then opens the gate
///
/// So devices start together, and what the host needs to queue a launch is no part of the time. A gate that had to open
/// by itself (gpu_gate.hpp) leaves no such time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/gpu_gate.hpp"

namespace collmark {

/// How long the host waits for devices, and what ends its wait before.
struct HostPatience {
  std::chrono::milliseconds timeout{30'000};
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void()> watch = {};  // called now and then; what it throws ends the wait

  /// Of a rank, for a flag that does not come.
  [[nodiscard]] std::chrono::nanoseconds longest_wait() const { return timeout; }
  /// For a host that waits for such ranks: their own waits end first, and say more.
  [[nodiscard]] HostPatience longer() const;
};

class GpuClock {
 public:
  /// The streams must outlive it.
  GpuClock(std::vector<GpuStream*> streams, HostPatience patience);
  ~GpuClock();
  GpuClock(const GpuClock&) = delete;
  GpuClock& operator=(const GpuClock&) = delete;

  /// What is queued from here on waits for stop().
  void start();
  /// To be called after whatever is queued, with the most launches that any stream was given: behind a closed gate it takes
  /// only so many. What is queued otherwise, or by a library, counts as several.
  void launched(int launches = kOfOneOperation);
  static constexpr int kOfOneOperation = 4;
  /// Of events.  Source: CUDA Driver API, cuEventElapsedTime: "a resolution of around 0.5 microseconds".
  static constexpr std::chrono::nanoseconds kTick{500};
  /// Opens the gate and waits. The longest time of any device.
  ///   Throws   as finish(); Unsupported if a call of the driver has waited for the gate
  [[nodiscard]] Seconds stop();
  /// Of one stream, in the order in which they were given, since the last stop().
  [[nodiscard]] Seconds time_of(int stream) const;

  /// Waits for all that was queued.
  ///   Throws   Error{timed_out, interrupted} or what watch() throws, and then work may still be under way;
  ///            Error{lost} as Driver::check
  void finish();
  /// After an error: opens the gate, and lets idle() know of all that was queued. Does not wait.
  void let_go();
  /// What finish() or let_go() saw queued has come to its end, and nothing was started since.
  [[nodiscard]] bool idle() const;

 private:
  struct Lane {
    GpuStream* stream;
    std::unique_ptr<GpuEvent> start, end;
  };
  void record_end();

  HostPatience patience_;
  std::vector<Lane> lanes_;
  std::unique_ptr<GpuGate> gate_;
  int behind_gate_ = 0;  // launches
  bool started_ = false;
};

}  // namespace collmark
