#include "bench/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace collmark {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kLooksPerLimit = 10;  // few: each takes a core from what is measured for a moment
constexpr milliseconds kFewest{10}, kMost{1000};

}  // namespace

Watchdog::Watchdog(milliseconds limit, OnHang on_hang)
    : limit_(limit), on_hang_(std::move(on_hang)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Watchdog::watch() {
  const milliseconds pause = std::clamp(limit_ / kLooksPerLimit, kFewest, kMost);
  std::uint64_t seen = 0;
  steady_clock::time_point since = steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, pause, [this] { return done_; })) {
    const char* const what = what_.load(std::memory_order_acquire);
    const std::uint64_t entered = entered_.load(std::memory_order_relaxed);
    const auto now = steady_clock::now();
    if (what == nullptr || entered != seen) {
      seen = entered;
      since = now;
    } else if (now - since >= limit_) {
      on_hang_(
          fmt::format("has waited {} s {}", static_cast<double>(limit_.count()) / 1000.0, what));
      return;
    }
  }
}

}  // namespace collmark
