/// A stream of the stub driver: a thread that works off what it is given, in order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace collmark::stub {

class Queue {
 public:
  using Task = std::function<void()>;

  Queue();
  /// Waits for the tasks, except after one that hangs.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Blocks while it is full, as a launch does on a GPU.
  void push(Task task);
  /// Blocks until everything pushed so far is done: forever, if something hangs.
  void drain();
  /// For a task that never ends: the thread stays behind when the queue goes.
  void will_hang();

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Task> tasks;
    std::uint64_t pushed = 0, done = 0;
    bool closed = false, hangs = false;
  };
  static void work(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread thread_;
};

}  // namespace collmark::stub
