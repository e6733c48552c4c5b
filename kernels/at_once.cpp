#include "kernels/at_once.hpp"

#include <utility>

namespace collmark {

AtOnce::AtOnce(int devices) {
  for (int d = 1; d < devices; ++d) threads_.emplace_back([this, d] { work(d); });
}

AtOnce::~AtOnce() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void AtOnce::run(const Call& call) {
  {
    const std::lock_guard lock(mutex_);
    call_ = &call;
    ++round_;
    working_ = static_cast<int>(threads_.size());
  }
  changed_.notify_all();
  make(call, 0);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return working_ == 0; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void AtOnce::work(int device) {
  for (int seen = 0;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ends_ || round_ != seen; });
    if (ends_) return;
    seen = round_;
    const Call& call = *call_;
    lock.unlock();
    make(call, device);
    lock.lock();
    if (--working_ == 0) changed_.notify_all();
  }
}

void AtOnce::make(const Call& call, int device) {
  try {
    call(device);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    error_ = std::current_exception();
  }
}

}  // namespace collmark
