#include "bench/running_launch.hpp"

namespace collmark {

void RunningLaunch::run(const std::shared_ptr<ThreadLaunch>& launch,
                        const std::function<void(int rank)>& body) {
  {
    const std::lock_guard lock(mutex_);
    launch_ = launch;
    if (interrupted_) launch->team().interrupt();
  }
  launch->team().run(body);
  const std::lock_guard lock(mutex_);
  launch_ = nullptr;
}

void RunningLaunch::interrupt() noexcept {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  if (launch_) launch_->team().interrupt();
}

}  // namespace collmark
