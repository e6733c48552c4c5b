/// A call for each of several devices, all at the same time: one that waits for what another device does must not keep that
/// other device's call from being made.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace collmark {

/// A thread for each device but the first, whose calls are made by the caller.
class AtOnce {
 public:
  explicit AtOnce(int devices);
  ~AtOnce();
  AtOnce(const AtOnce&) = delete;
  AtOnce& operator=(const AtOnce&) = delete;

  using Call = std::function<void(int device)>;
  /// Returns when all calls have.  Throws what one of them threw.
  void run(const Call& call);

 private:
  void work(int device);
  void make(const Call& call, int device);

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  const Call* call_ = nullptr;
  int round_ = 0, working_ = 0;
  bool ends_ = false;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;  // the last: they use the rest
};

}  // namespace collmark
