#include "kernels/stub_driver/device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "kernels/on_cpu/grid.hpp"

namespace collmark::stub {
namespace {

constexpr std::size_t kAlignment = 256;       // of cuMemAlloc
constexpr std::uint64_t kEndless = 1U << 30;  // as on a GPU, ranks give up by themselves or never
constexpr int kGarbage = 0xA5;                // what fresh memory holds: nobody may rely on zeros

// Where the lane that runs on this thread counts: what its device's kernels see as collmark_transfer_counts.
thread_local TransferCounts counted_in{nullptr, 0};

[[noreturn]] void hang_forever() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

int Machine::multiprocessors() { return faults_.happens("small_device") ? 1 : kMultiprocessors; }

int Machine::blocks_of_multiprocessor(int threads) {
  if (threads > kMostThreads) return 0;
  return faults_.happens("small_device") ? 1 : kBlocksOfMultiprocessor;
}

cu::Status Machine::allocate(cu::Device device, cu::Pointer* pointer, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes == 0) return cu::Status::invalid_value;
  if (bytes > free_[at(device)] || faults_.happens("out_of_memory"))
    return cu::Status::out_of_memory;
  void* memory = nullptr;
  // As long as it was asked for, so that AddressSanitizer sees who reaches beyond it.
  if (posix_memalign(&memory, kAlignment, bytes) != 0) return cu::Status::out_of_memory;
  std::memset(memory, kGarbage, bytes);
  free_[at(device)] -= bytes;
  *pointer = reinterpret_cast<cu::Pointer>(memory);
  memory_.emplace(*pointer,
                  Allocation{{static_cast<std::byte*>(memory), std::free}, device, bytes});
  return cu::Status::success;
}

cu::Status Machine::release(cu::Pointer pointer) {
  std::vector<Stream*> busy;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [stream, owner] : streams_) busy.push_back(stream);
  }
  for (Stream* stream : busy) stream->queue.drain();
  const std::lock_guard lock(mutex_);
  const auto found = memory_.find(pointer);
  if (found == memory_.end()) return cu::Status::invalid_value;
  free_[at(found->second.device)] += found->second.size;
  memory_.erase(found);
  return cu::Status::success;
}

std::size_t Machine::free_memory(cu::Device device) {
  const std::lock_guard lock(mutex_);
  return free_[at(device)];
}

Stream* Machine::new_stream(cu::Device device) {
  auto owner = std::make_unique<Stream>(device);
  Stream* const stream = owner.get();
  const std::lock_guard lock(mutex_);
  streams_.emplace(stream, std::move(owner));
  return stream;
}

cu::Status Machine::end(Stream* stream) {
  std::unique_ptr<Stream> last;
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return cu::Status::invalid_handle;
  last = std::move(found->second);
  streams_.erase(found);
  return cu::Status::success;
}

cu::Status Machine::launch(Stream& stream, const CpuKernel& kernel, int blocks, int threads,
                           const void* argument) {
  if (blocks < 1 || threads < 1 || threads > kMostThreads) return cu::Status::invalid_value;
  if (faults_.happens("launch_error")) return cu::Status::launch_out_of_resources;
  const auto* const first = static_cast<const std::byte*>(argument);
  if (faults_.happens("hang")) {
    stream.queue.will_hang();
    stream.push(hang_forever);
  }
  const bool crashes = faults_.happens("crash");
  const cu::Device device = stream.device;
  stream.push(
      [=, this, &kernel, copy = std::vector<std::byte>(first, first + kernel.argument_bytes)] {
        if (crashes) crashed();
        if (state() != cu::Status::success) return;
        const TransferCounts nobody_counts{nullptr, 0};
        run(kernel, {blocks, threads}, copy.data(),
            kernel.takes_job ? counts_[at(device)] : nobody_counts);
      });
  return cu::Status::success;
}

void Machine::transfer(const MovedPart& part) {
  if (counted_in.elements == nullptr) return;
  std::atomic_ref(counted_in.elements[part.src * counted_in.ranks + part.dst])
      .fetch_add(static_cast<unsigned long long>(part.count));
}

/// On one device fibers, which repeat by their seed; with several, kernels of different devices wait for each other, and
/// each lane is a thread.
void Machine::run(const CpuKernel& kernel, Shape shape, const void* argument,
                  const TransferCounts& counts) {
  try {
    (void)grid::run({.blocks = shape.blocks,
                     .lanes = shape.threads,
                     .engine = devices_ == 1 ? grid::Engine::fibers : grid::Engine::threads,
                     .seed = seed_.fetch_add(1),
                     .patience = kEndless},
                    [&] {
                      counted_in = counts;
                      kernel.run(argument);
                    });
  } catch (const std::exception& e) {
    (void)std::fprintf(stderr, "collmark stub: %.*s: %s\n", static_cast<int>(kernel.symbol.size()),
                       kernel.symbol.data(), e.what());
    crashed();
  }
}

namespace {
std::unique_ptr<Machine>& place() {
  static auto one = std::make_unique<Machine>();
  return one;
}
}  // namespace

Machine& machine() { return *place(); }

void start_over() {
  place().reset();  // first: one at a time watches the kernels
  place() = std::make_unique<Machine>();
}

}  // namespace collmark::stub
