#include "kernels/gpu_gate.hpp"

#include <algorithm>
#include <atomic>

namespace collmark {
namespace {

constexpr int kLooks = 4;  // of its guard in the longest time: closing it wakes nobody

}  // namespace

GpuGate::GpuGate(const Gpu& gpu, std::chrono::milliseconds longest)
    : longest_(longest), word_(gpu, Bytes{sizeof(std::uint32_t)}) {
  *reinterpret_cast<std::uint32_t*>(word_.data()) = 0;
  guard_ = std::thread([this] { guard(); });
}

GpuGate::~GpuGate() {
  {
    const std::lock_guard lock(mutex_);
    open_now();
    ends_ = true;
  }
  end_.notify_all();
  guard_.join();
}

void GpuGate::close() {
  const std::lock_guard lock(mutex_);
  ++mark_;
  closed_ = true;
  by_itself_ = false;
  since_ = Clock::now();
}

void GpuGate::hold(GpuStream& stream) const { stream.wait_for(word_.on_device(), mark_); }

void GpuGate::open() {
  const std::lock_guard lock(mutex_);
  open_now();
}

void GpuGate::open_now() {
  if (!closed_) return;
  closed_ = false;
  std::atomic_ref word(*reinterpret_cast<std::uint32_t*>(word_.data()));
  word.store(mark_, std::memory_order_release);
}

bool GpuGate::opened_by_itself() const {
  const std::lock_guard lock(mutex_);
  return by_itself_;
}

/// Calls nothing of the driver: whoever is stuck in there may hold its locks.
void GpuGate::guard() {
  std::unique_lock lock(mutex_);
  const auto between = std::max(longest_ / kLooks, std::chrono::milliseconds(1));
  while (!end_.wait_for(lock, between, [this] { return ends_; })) {
    if (!closed_ || Clock::now() - since_ < longest_) continue;
    open_now();
    by_itself_ = true;
  }
}

}  // namespace collmark
