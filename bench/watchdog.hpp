/// Ends waits that nobody else can bound: those inside a library.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace collmark {

/// Watches one thread. That thread says what it enters and when it leaves, at the price of two plain stores,
/// so that it may do so inside of what is timed.
class Watchdog {
 public:
  using OnHang = std::function<void(const std::string& what)>;

  /// `on_hang` is called once, from a thread of the watchdog, when something was entered and not left for
  /// `limit`; `what` says what and how long.
  Watchdog(std::chrono::milliseconds limit, OnHang on_hang);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// `what` continues "has waited 30 s": a string literal.
  void enter(const char* what) noexcept {
    entered_.store(entered_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    what_.store(what, std::memory_order_release);  // pairs with acquire in watch()
  }
  void leave() noexcept { what_.store(nullptr, std::memory_order_release); }

 private:
  void watch();

  std::chrono::milliseconds limit_;
  OnHang on_hang_;
  std::atomic<const char*> what_{nullptr};  // null: nothing to watch
  std::atomic<std::uint64_t> entered_{0};   // how often: two waits of the same kind are two
  std::mutex mutex_;                        // guards done_
  bool done_ = false;
  std::condition_variable wake_;
  std::thread thread_;
};

/// Enters for the length of a scope.
class Watched {
 public:
  Watched(Watchdog& dog, const char* what) noexcept : dog_(dog) { dog_.enter(what); }
  ~Watched() { dog_.leave(); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  Watchdog& dog_;
};

}  // namespace collmark
