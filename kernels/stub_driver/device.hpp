/// What the stub driver has instead of GPUs: devices whose memory is the host's and whose kernels run on the CPU grid.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "kernels/cpu_kernels.hpp"
#include "kernels/driver_abi.hpp"
#include "kernels/moved_part.hpp"
#include "kernels/on_cpu/observer.hpp"
#include "kernels/stub_driver/faults.hpp"
#include "kernels/stub_driver/queue.hpp"
#include "kernels/stub_driver/shared_memory.hpp"

namespace collmark::stub {

inline constexpr std::size_t kMemory = std::size_t{1} << 30;  // [bytes] of a device

struct Event {
  std::atomic<std::uint64_t> recorded{0}, passed{0};
  std::chrono::steady_clock::time_point at;  // published by `passed`
};

/// What a stream was given during a capture, in order.
struct Graph {
  std::vector<Queue::Task> tasks;
};

struct Stream {
  explicit Stream(cu::Device on) : device(on) {}
  void push(Queue::Task task) {
    capture ? capture->tasks.push_back(std::move(task)) : queue.push(std::move(task));
  }
  cu::Device device;
  Queue queue;
  std::unique_ptr<Graph> capture;      // null: none is under way
  bool capture_is_void = false;        // it has refused something
  std::chrono::nanoseconds played{0};  // by its tasks so far, in their order
};

/// All that there is, from the first call on. Calls come from any thread.
class Machine : private Observer {
 public:
  Machine()
      : numbers_(devices_from_environment()),
        counts_(numbers_.size()),
        free_(numbers_.size(), kMemory) {}

  [[nodiscard]] int devices() const { return static_cast<int>(numbers_.size()); }
  /// That tells it from all other devices of the machine, whoever sees it as which.
  [[nodiscard]] int number(cu::Device device) const { return numbers_[at(device)]; }
  /// As long as it is held kernels may run on it.
  void retain(cu::Device device) {
    const std::lock_guard lock(mutex_);
    ++used_[device];
  }
  /// False if nobody holds it.
  bool release(cu::Device device) {
    const std::lock_guard lock(mutex_);
    const auto held = used_.find(device);
    if (held == used_.end()) return false;
    if (--held->second == 0) used_.erase(held);
    return true;
  }
  [[nodiscard]] int retained(cu::Device device) {
    const std::lock_guard lock(mutex_);
    const auto held = used_.find(device);
    return held == used_.end() ? 0 : held->second;
  }
  [[nodiscard]] Faults& faults() { return faults_; }
  [[nodiscard]] int multiprocessors();
  [[nodiscard]] int blocks_of_multiprocessor(int threads);

  /// A task of a stream ends that is worth so many half steps of faults.hpp. Called by its queue, as the next.
  void play(Stream& stream, int half_steps) {
    stream.played += half_steps * (stream.device + 1) * step_ / 2;
  }
  [[nodiscard]] std::chrono::steady_clock::time_point now(const Stream& stream) const {
    return step_.count() > 0 ? std::chrono::steady_clock::time_point(stream.played)
                             : std::chrono::steady_clock::now();
  }

  /// A launch never ends.
  [[nodiscard]] bool hangs() const { return hangs_.load(std::memory_order_relaxed); }
  /// Nobody is to wait for what is in its streams now, at the end of the process neither.
  void never_ends() {
    const std::lock_guard lock(mutex_);
    hangs_.store(true, std::memory_order_relaxed);
    for (const auto& [stream, owner] : streams_) owner->queue.will_hang();
  }
  /// Makes room for the next one that watches kernels.
  void leave() { watching_.reset(); }

  /// After a crash every call says so.
  [[nodiscard]] cu::Status state() const { return state_.load(std::memory_order_acquire); }
  void crashed() { state_.store(cu::Status::launch_failed, std::memory_order_release); }

  [[nodiscard]] cu::Status allocate(cu::Device device, cu::Pointer* pointer, std::size_t bytes);
  void wait_for_streams();
  /// Once all streams are idle, as the real one does.
  [[nodiscard]] cu::Status release(cu::Pointer pointer);
  [[nodiscard]] std::size_t free_memory(cu::Device device);
  /// The allocation around a pointer.
  [[nodiscard]] cu::Status find(cu::Pointer pointer, cu::Pointer* base, std::size_t* bytes);

  /// Memory of the host, pinned.
  void pin(const void* begin, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    pinned_[static_cast<const std::byte*>(begin)] = bytes;
  }
  void unpin(const void* begin) {
    const std::lock_guard lock(mutex_);
    pinned_.erase(static_cast<const std::byte*>(begin));
  }
  [[nodiscard]] bool is_pinned(const void* address) {
    const std::lock_guard lock(mutex_);
    const auto next = pinned_.upper_bound(static_cast<const std::byte*>(address));
    if (next == pinned_.begin()) return false;
    const auto& [begin, bytes] = *std::prev(next);
    return static_cast<const std::byte*>(address) < begin + bytes;
  }

  /// For other processes, and from them.
  [[nodiscard]] cu::Status export_memory(cu::Pointer base, cu::IpcHandle* handle);
  [[nodiscard]] cu::Status open_memory(const cu::IpcHandle& handle, cu::Pointer* base);
  [[nodiscard]] cu::Status close_memory(cu::Pointer base);

  /// What the kernels of a device see as the variable collmark_transfer_counts.
  [[nodiscard]] TransferCounts& counts(cu::Device device) { return counts_[at(device)]; }

  [[nodiscard]] Stream* new_stream(cu::Device device);
  [[nodiscard]] cu::Status end(Stream* stream);

  /// Runs a kernel in a stream; `argument` is copied now.
  [[nodiscard]] cu::Status launch(Stream& stream, const CpuKernel& kernel, int blocks, int threads,
                                  const void* argument);

 private:
  struct Allocation {
    std::unique_ptr<std::byte, void (*)(void*)> memory;  // or ...
    std::unique_ptr<SharedMemory> shared;
    cu::Device device;
    std::size_t size;
  };
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  void pass(std::int64_t, std::int64_t) override {}
  void transfer(const MovedPart& part) override;
  struct Shape {
    int blocks, threads;
  };
  void run(const CpuKernel& kernel, Shape shape, const void* argument,
           const TransferCounts& counts);

  std::vector<int> numbers_;  // [device]
  std::chrono::nanoseconds step_ = step_from_environment();
  DeviceShape shape_ = shape_from_environment();
  Faults faults_;
  std::atomic<cu::Status> state_{cu::Status::success};
  std::atomic<std::uint64_t> seed_{1};
  // In the order of streams:
  std::vector<TransferCounts> counts_;  // [device]
  std::mutex mutex_;                    // of what follows
  std::map<cu::Device, int> used_;      // how often
  std::vector<std::size_t> free_;       // [device]
  std::map<cu::Pointer, Allocation> memory_;
  std::map<cu::Pointer, std::unique_ptr<SharedMemory>> opened_;
  std::map<const std::byte*, std::size_t> pinned_;
  std::map<Stream*, std::shared_ptr<Stream>> streams_;  // whoever waits for one may outlast it
  std::atomic<bool> hangs_{false};
  std::optional<Watching> watching_{std::in_place, static_cast<Observer&>(*this)};  // kernels
};

[[nodiscard]] Machine& machine();
/// A new one, as the environment says now. Nothing of the old one may be in use, unless it hangs: then it stays, with its
/// threads.
void start_over();

}  // namespace collmark::stub
