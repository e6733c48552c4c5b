#include "kernels/on_cpu/observer.hpp"

#include <atomic>

namespace collmark {
namespace {

std::atomic<Observer*>& present() {
  static std::atomic<Observer*> watching{nullptr};
  return watching;
}

}  // namespace

Observer* observer() { return present().load(std::memory_order_acquire); }
Watching::Watching(Observer& by) { present().store(&by, std::memory_order_release); }
Watching::~Watching() { present().store(nullptr, std::memory_order_release); }

}  // namespace collmark
