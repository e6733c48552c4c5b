/// What holds the streams of several devices until the host has queued all that they are to begin together.
///
/// A call of the driver may wait behind a closed gate for ever: a launch that is made to block (a debugger does that), or one
/// into a stream that is full. Nobody else would open it, so it opens by itself after a time, on a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "kernels/gpu.hpp"

namespace collmark {

class GpuGate {
 public:
  GpuGate(const Gpu& gpu, std::chrono::milliseconds longest);
  /// Opens it.
  ~GpuGate();
  GpuGate(const GpuGate&) = delete;
  GpuGate& operator=(const GpuGate&) = delete;

  /// From here on; it is open.
  void close();
  /// In the order of the stream.
  void hold(GpuStream& stream) const;
  void open();
  /// Since it was last closed it was open before anybody opened it.
  [[nodiscard]] bool opened_by_itself() const;

 private:
  using Clock = std::chrono::steady_clock;
  void guard();
  void open_now();

  const std::chrono::milliseconds longest_;
  PinnedMemory word_;         // how often it was opened
  std::uint32_t mark_ = 0;    // that it reaches when it opens the next time
  mutable std::mutex mutex_;  // of what follows
  bool closed_ = false, by_itself_ = false, ends_ = false;
  Clock::time_point since_;  // it is closed
  std::condition_variable end_;
  std::thread guard_;  // the last: it uses the rest
};

}  // namespace collmark
