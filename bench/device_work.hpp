/// What may be under way on devices when its owner gives up.
#pragma once

#include <chrono>

namespace collmark {

class DeviceWork {
 public:
  /// For whoever gives up: what waits for the clock begins, and no graph is held any more. Before that NCCL does not
  /// abort: it waits for what is queued, and for graphs that hold work of its own.
  virtual void let_go() noexcept = 0;
  /// Nothing is under way on any device: the memory may be given back without waiting. Not so if one is lost.
  [[nodiscard]] virtual bool idle() const = 0;

 protected:
  ~DeviceWork() = default;
};

/// Waits for it, so long at most. False: nothing that it may use can be given back.
[[nodiscard]] bool comes_to_an_end(const DeviceWork& work, std::chrono::milliseconds longest);

}  // namespace collmark
