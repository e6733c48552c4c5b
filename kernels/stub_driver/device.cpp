#include "kernels/stub_driver/device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "kernels/job.hpp"
#include "kernels/on_cpu/grid.hpp"

namespace collmark::stub {
namespace {

constexpr std::size_t kAlignment = 256;       // of cuMemAlloc
constexpr std::uint64_t kEndless = 1U << 30;  // as on a GPU, ranks give up by themselves or never
constexpr std::uint64_t kBusyLooks =
    32;                         // of every fiber, before its peers' processes get the core
constexpr int kSlowly = 1000;   // times as long
constexpr int kGarbage = 0xA5;  // what fresh memory holds: nobody may rely on zeros

// Where the lane that runs on this thread counts: what its device's kernels see as collmark_transfer_counts.
thread_local TransferCounts counted_in{nullptr, 0};

/// A job whose inputs stand in its lists from the last rank to the first: what reads all of them in one pass computes the same
/// sum in another order.
class Turned {
 public:
  explicit Turned(const void* argument) : job_(*static_cast<const Job*>(argument)) {
    std::byte* const* const inputs = job_.views[0].inputs;
    inputs_.assign(inputs, inputs + job_.ranks);
    std::reverse(inputs_.begin() + job_.servers, inputs_.end());
    views_.assign(job_.views, job_.views + job_.held);
    for (RankView& view : views_) view.inputs = inputs_.data();
    job_.views = views_.data();
  }
  [[nodiscard]] const void* argument() const { return &job_; }

 private:
  Job job_;
  std::vector<std::byte*> inputs_;  // [rank]
  std::vector<RankView> views_;
};

[[noreturn]] void hang_forever() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

int Machine::multiprocessors() {
  return faults_.happens("small_device") ? 1 : shape_.multiprocessors;
}

int Machine::blocks_of_multiprocessor(int threads) {
  if (threads > kMostThreads) return 0;
  return faults_.happens("small_device") ? 1 : shape_.blocks(threads);
}

cu::Status Machine::allocate(cu::Device device, cu::Pointer* pointer, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes == 0) return cu::Status::invalid_value;
  if (bytes > free_[at(device)] || faults_.happens("out_of_memory"))
    return cu::Status::out_of_memory;
  Allocation fresh{{nullptr, std::free}, nullptr, device, bytes};
  void* memory = nullptr;
  if (bytes % kSharedBlock == 0) {
    fresh.shared = SharedMemory::create(bytes);
    if (fresh.shared) memory = fresh.shared->data();
  } else if (posix_memalign(&memory, kAlignment, bytes) == 0) {
    // As long as it was asked for, so that AddressSanitizer sees who reaches beyond it.
    fresh.memory.reset(static_cast<std::byte*>(memory));
  }
  if (memory == nullptr) return cu::Status::out_of_memory;
  std::memset(memory, kGarbage, bytes);
  free_[at(device)] -= bytes;
  *pointer = reinterpret_cast<cu::Pointer>(memory);
  memory_.emplace(*pointer, std::move(fresh));
  return cu::Status::success;
}

void Machine::wait_for_streams() {
  std::vector<std::shared_ptr<Stream>> busy;  // another thread may end one meanwhile
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [stream, owner] : streams_) busy.push_back(owner);
  }
  for (const auto& stream : busy) stream->queue.drain();
}

cu::Status Machine::release(cu::Pointer pointer) {
  wait_for_streams();
  const std::lock_guard lock(mutex_);
  const auto found = memory_.find(pointer);
  if (found == memory_.end()) return cu::Status::invalid_value;
  if (found->second.shared && found->second.shared->opened() > 0) {
    (void)std::fputs("collmark stub: memory given back that another process has open\n", stderr);
    crashed();
    return state();
  }
  free_[at(found->second.device)] += found->second.size;
  memory_.erase(found);
  return cu::Status::success;
}

std::size_t Machine::free_memory(cu::Device device) {
  const std::lock_guard lock(mutex_);
  return free_[at(device)];
}

cu::Status Machine::find(cu::Pointer pointer, cu::Pointer* base, std::size_t* bytes) {
  const std::lock_guard lock(mutex_);
  const auto next = memory_.upper_bound(pointer);
  if (next == memory_.begin()) return cu::Status::not_found;
  const auto& [begin, allocation] = *std::prev(next);
  if (pointer - begin >= allocation.size) return cu::Status::not_found;
  *base = begin;
  *bytes = allocation.size;
  return cu::Status::success;
}

cu::Status Machine::export_memory(cu::Pointer base, cu::IpcHandle* handle) {
  const std::lock_guard lock(mutex_);
  if (faults_.happens("no_ipc")) return cu::Status::not_supported;
  const auto found = memory_.find(base);
  if (found == memory_.end() || !found->second.shared) return cu::Status::invalid_value;
  return *handle = found->second.shared->handle(), cu::Status::success;
}

cu::Status Machine::open_memory(const cu::IpcHandle& handle, cu::Pointer* base) {
  const std::lock_guard lock(mutex_);
  if (faults_.happens("ipc_refused")) return cu::Status::peer_access_unsupported;
  auto shared = SharedMemory::open(handle);
  if (!shared) return cu::Status::map_failed;
  *base = reinterpret_cast<cu::Pointer>(shared->data());
  opened_.emplace(*base, std::move(shared));
  return cu::Status::success;
}

cu::Status Machine::close_memory(cu::Pointer base) {
  const std::lock_guard lock(mutex_);
  return opened_.erase(base) == 1 ? cu::Status::success : cu::Status::invalid_value;
}

Stream* Machine::new_stream(cu::Device device) {
  auto owner = std::make_shared<Stream>(device);
  Stream* const stream = owner.get();
  const std::lock_guard lock(mutex_);
  streams_.emplace(stream, std::move(owner));
  return stream;
}

cu::Status Machine::end(Stream* stream) {
  std::shared_ptr<Stream> last;
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
    hangs_.store(true, std::memory_order_relaxed);
    stream.queue.will_hang();
    stream.push(hang_forever);
  }
  const bool crashes = faults_.happens("crash");
  const bool turns =
      kernel.symbol.starts_with("direct_all_reduce") && faults_.happens("other_order");
  const int half_steps = 2 * (faults_.happens("slow") ? kSlowly : 1);
  const cu::Device device = stream.device;
  stream.push([=, this, &stream, &kernel,
               copy = std::vector<std::byte>(first, first + kernel.argument_bytes)] {
    if (crashes) crashed();
    if (state() != cu::Status::success) return;
    const TransferCounts nobody_counts{nullptr, 0};
    std::optional<Turned> turned;
    if (turns) turned.emplace(copy.data());
    run(kernel, {blocks, threads}, turns ? turned->argument() : copy.data(),
        kernel.takes_job ? counts_[at(device)] : nobody_counts);
    play(stream, half_steps);
  });
  if (!stream.capture && faults_.happens("blocking_launch")) stream.queue.drain();
  return cu::Status::success;
}

void Machine::transfer(const MovedPart& part) {
  if (counted_in.elements == nullptr) return;
  std::atomic_ref(counted_in.elements[part.src * counted_in.ranks + part.dst])
      .fetch_add(static_cast<unsigned long long>(part.count));
}

/// On one device fibers, which repeat by their seed; with several, kernels of different devices wait for each other, and
/// each lane is a thread. Kernels of other processes may be waited for too.
void Machine::run(const CpuKernel& kernel, Shape shape, const void* argument,
                  const TransferCounts& counts) {
  const auto [devices, has_peers] = [this] {
    const std::lock_guard lock(mutex_);
    return std::pair(used_.size(), !opened_.empty());
  }();
  counted_in = counts;  // for fibers, which share this thread's
  try {
    (void)grid::run({.blocks = shape.blocks,
                     .lanes = shape.threads,
                     .engine = devices == 1 ? grid::Engine::fibers : grid::Engine::threads,
                     .seed = seed_.fetch_add(1),
                     .patience = kEndless,
                     .gives_way_after = has_peers ? kBusyLooks : 0,
                     .clock = grid::Clock::steady},
                    [&] {
                      if (counted_in.elements != counts.elements) counted_in = counts;
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
  static auto* const left = new std::vector<Machine*>;
  machine().leave();  // first: one at a time watches the kernels
  if (machine().hangs()) left->push_back(place().release());
  place() = std::make_unique<Machine>();
}

}  // namespace collmark::stub
