/// The launch that an interrupt from another thread must reach, whenever it comes.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "bench/thread_member.hpp"

namespace collmark {

/// An interrupt stays: one that comes while no launch runs (between cases, or while a case is being
/// prepared) ends the next one.
class RunningLaunch {
 public:
  /// body(rank) on every rank of the launch. Throws what ThreadTeam::run throws.
  void run(const std::shared_ptr<ThreadLaunch>& launch, const std::function<void(int rank)>& body);
  void interrupt() noexcept;

 private:
  std::mutex mutex_;  // guards what follows
  std::shared_ptr<ThreadLaunch> launch_;
  bool interrupted_ = false;
};

}  // namespace collmark
