#include "kernels/gpu.hpp"

#include <array>
#include <utility>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"
#include "collectives/index.hpp"
#include "kernels/image.hpp"

namespace collmark {
namespace {

cu::Pointer address(const std::byte* pointer) { return reinterpret_cast<cu::Pointer>(pointer); }

std::string text_of(const cu::Uuid& uuid) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

GpuFacts facts_of(const Driver& driver, int ordinal) {
  const std::string who = "GPU " + std::to_string(ordinal);
  cu::Device device = 0;
  driver.check(driver->device_get(&device, ordinal), who);
  const auto attribute = [&](cu::Attribute which) {
    int value = 0;
    driver.check(driver->device_get_attribute(&value, which, device), who + ": attributes");
    return value;
  };
  std::array<char, 256> text{};
  GpuFacts facts;
  facts.ordinal = ordinal;
  driver.check(driver->device_get_name(text.data(), static_cast<int>(text.size()), device), who);
  facts.name = text.data();
  driver.check(driver->device_get_pci_bus_id(text.data(), static_cast<int>(text.size()), device),
               who);
  facts.pci = text.data();
  cu::Uuid uuid{};
  driver.check(driver->device_get_uuid(&uuid, device), who);
  facts.uuid = text_of(uuid);
  std::size_t memory = 0;
  driver.check(driver->device_total_mem(&memory, device), who);
  facts.memory = {static_cast<std::int64_t>(memory)};
  facts.l2 = {attribute(cu::Attribute::l2_cache_size)};
  facts.major = attribute(cu::Attribute::compute_capability_major);
  facts.minor = attribute(cu::Attribute::compute_capability_minor);
  facts.multiprocessors = attribute(cu::Attribute::multiprocessor_count);
  facts.most_threads = attribute(cu::Attribute::max_threads_per_block);
  facts.cooperative = attribute(cu::Attribute::cooperative_launch) != 0;
  return facts;
}

/// A driver runs what the same CUDA or an older one has compiled; within 12 or within 13, also newer.
void require_new_enough(const Driver& driver) {
  if (driver.version() / 1000 >= kernel_image_version() / 1000) return;
  throw Error(ErrorKind::absent,
              "the driver is for CUDA " + cuda_version(driver.version()) +
                  ", the kernels were built with CUDA " + cuda_version(kernel_image_version()) +
                  ": update the NVIDIA driver, or build collmark with an older nvcc");
}

}  // namespace

PrimaryContext::PrimaryContext(const Driver& driver, const GpuFacts& facts)
    : driver_(driver), ordinal_(facts.ordinal) {
  require_new_enough(driver);
  const cu::Status status = driver->primary_context_retain(&context_, ordinal_);
  if (status != cu::Status::success)
    driver.check(status,
                 "GPU " + std::to_string(ordinal_) + " (" + facts.name + "): making a context");
}

PrimaryContext::~PrimaryContext() { (void)driver_->primary_context_release(ordinal_); }

Gpu::Gpu(const Driver& driver, int ordinal)
    : driver_(driver), facts_(facts_of(driver, ordinal)), context_(driver, facts_) {
  use();
  const std::string targets = kernel_image_targets();
  check(driver->module_load_data(&module_, kernel_image()),
        "loading kernels for sm_" + std::to_string(facts_.major) + std::to_string(facts_.minor) +
            (targets.empty() ? " from a program built without nvcc" : ", built for " + targets));
}

Gpu::~Gpu() {
  (void)driver_->context_set_current(context());
  (void)driver_->module_unload(module_);
}

Bytes Gpu::free_memory() const {
  use();
  std::size_t free = 0, total = 0;
  check(driver_->mem_get_info(&free, &total), "asking for free memory");
  return {static_cast<std::int64_t>(free)};
}

cu::Function Gpu::kernel(const std::string& symbol) {
  cu::Function& function = kernels_[symbol];
  if (function != nullptr) return function;
  use();
  check(driver_->module_get_function(&function, module_, symbol.c_str()), "kernel " + symbol);
  return function;
}

std::byte* Gpu::variable(const std::string& name, Bytes size) const {
  cu::Pointer pointer = 0;
  std::size_t bytes = 0;
  use();
  const cu::Status status = driver_->module_get_global(&pointer, &bytes, module_, name.c_str());
  if (status == cu::Status::not_found) return nullptr;
  check(status, "variable " + name);
  if (bytes != at(size.value))
    throw Error(ErrorKind::broken, "variable " + name + " has " + std::to_string(bytes) +
                                       " B, not " + std::to_string(size.value));
  return reinterpret_cast<std::byte*>(pointer);  // NOLINT(performance-no-int-to-ptr)
}

int Gpu::resident_blocks(const std::string& symbol, int threads) {
  const cu::Function function = kernel(symbol);
  use();
  int of_multiprocessor = 0;
  check(driver_->occupancy(&of_multiprocessor, function, threads, 0), "occupancy of " + symbol);
  return of_multiprocessor * facts_.multiprocessors;
}

void Gpu::use() const { check(driver_->context_set_current(context()), "selecting it"); }

void Gpu::check(cu::Status status, const std::string& doing) const {
  if (status != cu::Status::success)
    driver_.check(status,
                  "GPU " + std::to_string(facts_.ordinal) + " (" + facts_.name + "): " + doing);
}

GpuMemory::GpuMemory(const Gpu& gpu, Bytes size) : gpu_(&gpu), size_(size) {
  if (size.value == 0) return;
  gpu.use();
  gpu.check(gpu.driver()->mem_alloc(&pointer_, at(size.value)),
            "allocating " + std::to_string(size.value) + " B");
}

GpuMemory::~GpuMemory() {
  if (pointer_ == 0) return;
  (void)gpu_->driver()->context_set_current(gpu_->context());
  (void)gpu_->driver()->mem_free(pointer_);
}

GpuMemory::GpuMemory(GpuMemory&& other) noexcept
    : gpu_(other.gpu_),
      pointer_(std::exchange(other.pointer_, 0)),
      size_(std::exchange(other.size_, {})) {}

GpuMemory& GpuMemory::operator=(GpuMemory&& other) noexcept {
  std::swap(gpu_, other.gpu_);
  std::swap(pointer_, other.pointer_);
  std::swap(size_, other.size_);
  return *this;
}

std::byte* GpuMemory::data() const {
  return reinterpret_cast<std::byte*>(pointer_);  // NOLINT(performance-no-int-to-ptr)
}

PinnedMemory::PinnedMemory(const Gpu& gpu, Bytes size) : gpu_(gpu) {
  gpu.use();
  gpu.check(gpu.driver()->mem_host_alloc(&pointer_, at(size.value), cu::kHostMapped),
            "allocating pinned memory of the host");
  gpu.check(gpu.driver()->mem_host_get_device_pointer(&on_device_, pointer_, 0),
            "mapping memory of the host");
}

PinnedMemory::~PinnedMemory() {
  (void)gpu_.driver()->context_set_current(gpu_.context());
  (void)gpu_.driver()->mem_free_host(pointer_);
}

GpuEvent::GpuEvent(const Gpu& gpu) : gpu_(gpu) {
  gpu.use();
  gpu.check(gpu.driver()->event_create(&event_, cu::kEventDefault), "making an event");
}

GpuEvent::~GpuEvent() { (void)gpu_.driver()->event_destroy(event_); }

bool GpuEvent::passed() const {
  const cu::Status status = gpu_.driver()->event_query(event_);
  if (status == cu::Status::not_ready) return false;
  gpu_.check(status, "running kernels");
  return true;
}

Seconds GpuEvent::since(const GpuEvent& start) const {
  float milliseconds = 0;
  gpu_.check(gpu_.driver()->event_elapsed(&milliseconds, start.event_, event_),
             "reading its clock");
  return Seconds(static_cast<double>(milliseconds) / 1e3);
}

GpuStream::GpuStream(Gpu& gpu) : gpu_(gpu) {
  gpu.use();
  check(gpu.driver()->stream_create(&stream_, cu::kStreamNonBlocking), "making a stream");
}

GpuStream::~GpuStream() {
  (void)gpu_.driver()->context_set_current(gpu_.context());
  (void)gpu_.driver()->stream_destroy(stream_);
}

void GpuStream::copy_to_device(std::byte* to, const std::byte* from, Bytes size) {
  gpu_.use();
  check(gpu_.driver()->memcpy_to_device(address(to), from, at(size.value), stream_),
        "copying to it");
}

void GpuStream::copy_to_host(std::byte* to, const std::byte* from, Bytes size) {
  gpu_.use();
  check(gpu_.driver()->memcpy_to_host(to, address(from), at(size.value), stream_),
        "copying from it");
}

void GpuStream::copy(std::byte* to, const std::byte* from, Bytes size) {
  gpu_.use();
  check(gpu_.driver()->memcpy_anywhere(address(to), address(from), at(size.value), stream_),
        "copying between devices");
}

void GpuStream::set(std::byte* to, unsigned char value, Bytes size) {
  gpu_.use();
  check(gpu_.driver()->memset_bytes(address(to), value, at(size.value), stream_), "setting memory");
}

void GpuStream::wait_for(cu::Pointer word, std::uint32_t value) {
  gpu_.use();
  check(gpu_.driver()->stream_wait_value(stream_, word, value, cu::kWaitUntilEqualOrMore),
        "waiting in a stream");
}

void GpuStream::record(const GpuEvent& event) {
  gpu_.use();
  check(gpu_.driver()->event_record(event.handle(), stream_), "recording an event");
}

void GpuStream::launch_with(const std::string& kernel, Grid grid, const void* argument,
                            Together together) {
  const cu::Function function = gpu_.kernel(kernel);
  gpu_.use();
  void* arguments[] = {const_cast<void*>(argument)};
  const auto blocks = static_cast<unsigned>(grid.blocks);
  const auto threads = static_cast<unsigned>(grid.threads);
  const std::string doing = "launching " + kernel + " with " + std::to_string(grid.blocks) +
                            " blocks of " + std::to_string(grid.threads) + " threads";
  if (together == Together::yes)
    check(gpu_.driver()->launch_cooperative(function, blocks, 1, 1, threads, 1, 1, 0, stream_,
                                            arguments),
          doing);
  else
    check(gpu_.driver()->launch(function, blocks, 1, 1, threads, 1, 1, 0, stream_, arguments,
                                nullptr),
          doing);
}

}  // namespace collmark
