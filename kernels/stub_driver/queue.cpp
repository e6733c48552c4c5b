#include "kernels/stub_driver/queue.hpp"

#include <utility>

namespace collmark::stub {
namespace {

constexpr std::size_t kMost = 1024;  // tasks; a real stream is known to take about as many launches

}  // namespace

Queue::Queue() : thread_([state = state_] { work(state); }) {}

Queue::~Queue() {
  bool hangs = false;
  {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
    hangs = state_->hangs;
  }
  state_->changed.notify_all();
  hangs ? thread_.detach() : thread_.join();
}

void Queue::push(Task task) {
  {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->tasks.size() < kMost; });
    state_->tasks.push_back(std::move(task));
    ++state_->pushed;
  }
  state_->changed.notify_all();
}

void Queue::drain() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&, target = state_->pushed] { return state_->done >= target; });
}

void Queue::will_hang() {
  const std::lock_guard lock(state_->mutex);
  state_->hangs = true;
}

void Queue::work(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (true) {
    state->changed.wait(lock, [&] { return state->closed || !state->tasks.empty(); });
    if (state->tasks.empty()) return;
    const Task task = std::move(state->tasks.front());
    state->tasks.pop_front();
    lock.unlock();
    task();
    lock.lock();
    ++state->done;
    state->changed.notify_all();
  }
}

}  // namespace collmark::stub
