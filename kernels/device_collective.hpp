/// One collective on devices, whoever made its kernels: what is needed to feed, run, time and check it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "collectives/schedule.hpp"
#include "kernels/gpu.hpp"

namespace collmark {

class GpuClock;

/// Ranks [first, first + count).
struct RankRange {
  int first = 0, count = 0;
};

/// Streams and buffers of somebody else, who keeps them for as long as the collective lives.
struct GpuPlace {
  std::vector<GpuStream*> streams = {};   // [device]; none: its own
  std::vector<std::byte*> buffers = {};   // [rank], each its input and its output; none: its own
  std::vector<std::byte*> given_up = {};  // [device], for kernels of ours: word_of_giving_up()
};

class DeviceCollective {
 public:
  DeviceCollective() = default;
  DeviceCollective(const DeviceCollective&) = delete;
  DeviceCollective& operator=(const DeviceCollective&) = delete;
  virtual ~DeviceCollective() = default;

  /// Who holds and owes what; the steps may be none, if a library does it.
  [[nodiscard]] virtual const Schedule& shape() const = 0;
  /// Those whose buffers and launches are this process's.
  [[nodiscard]] virtual RankRange ranks() const = 0;
  /// Of this process, numbered from 0.
  [[nodiscard]] virtual int devices() const = 0;
  [[nodiscard]] virtual GpuStream& stream(int device) const = 0;
  [[nodiscard]] virtual int device_of(int rank) const = 0;
  [[nodiscard]] virtual std::byte* input(int rank) const = 0;
  [[nodiscard]] virtual std::byte* output(int rank) const = 0;

  // These queue work; whoever owns the collective waits for it.

  /// One operation on every device.
  virtual void run() = 0;
  /// Makes gave_up() current.
  virtual void queue_report() {}
  /// A rank has waited too long, in some run so far.
  [[nodiscard]] virtual bool gave_up() const { return false; }
  /// Makes complaint() current, once somebody gave up.
  virtual void queue_complaint() {}
  /// Who waited for whom, one line.
  [[nodiscard]] virtual std::string complaint() const { return ""; }

  /// Called again and again while the host waits.  Throws what has gone wrong, if the collective is told.
  virtual void watch() {}
};

/// Waits for all that was queued.
///   Throws   Error{timed_out} with the collective's complaint, if a rank has given up; as GpuClock::finish
void settle(DeviceCollective& collective, GpuClock& clock);

}  // namespace collmark
