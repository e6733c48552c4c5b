/// Ctrl-C, SIGTERM and a closed terminal as an event that a run can end on, all finished rows kept.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace collmark {

/// Ignores SIGHUP if the program was started so, whatever its libraries have made of that meanwhile. For main().
void honour_nohup();

/// While it lives, the first SIGINT, SIGTERM or SIGHUP (but not one that nohup has ignored) calls
/// `on_interrupt`, from a thread of its own so that it may lock, and is remembered; a second one
/// ends the program at once, as if nobody listened. Create it before other threads: they inherit
/// the mask that keeps signals away from them.
class InterruptListener {
 public:
  explicit InterruptListener(std::function<void()> on_interrupt);
  ~InterruptListener();
  InterruptListener(const InterruptListener&) = delete;
  InterruptListener& operator=(const InterruptListener&) = delete;

  [[nodiscard]] bool interrupted() const { return interrupted_.load(std::memory_order_relaxed); }

 private:
  void listen();

  std::function<void()> on_interrupt_;
  std::atomic<bool> interrupted_{false};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace collmark
