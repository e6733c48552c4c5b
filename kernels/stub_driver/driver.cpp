/// The functions of driver_abi.hpp over the stub's devices, by the names that a real driver exports. They return what
/// a real one would where it matters to collmark: calls without a current context, of a wrong device or with a stale
/// handle are refused.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "kernels/flag.hpp"
#include "kernels/stub_driver/device.hpp"

namespace collmark::cu {
namespace {

using stub::machine;

constexpr const char* kName = "collmark stub (CPU, no GPU)";
constexpr int kVersion = 99'000;  // newer than any toolkit
constexpr int kOldVersion = 11'040;

thread_local int current = -1;  // device of the calling thread's context

Context context_of(int device) {
  static char places[64];
  return reinterpret_cast<Context>(&places[device]);
}
int device_of(Context context) {
  for (int i = 0; i < machine().devices(); ++i)
    if (context_of(i) == context) return i;
  return -1;
}
bool is_device(int device) { return device >= 0 && device < machine().devices(); }

/// Why a call that needs a context cannot be served.
Status obstacle() { return current < 0 ? Status::invalid_context : machine().state(); }

stub::Stream& stream_of(Stream handle) { return *reinterpret_cast<stub::Stream*>(handle); }
/// Shared with the streams in which it is recorded: it may be destroyed before they come to it.
using EventOwner = std::shared_ptr<stub::Event>;
EventOwner& event_of(Event handle) { return *reinterpret_cast<EventOwner*>(handle); }
const CpuKernel& kernel_of(Function handle) { return *reinterpret_cast<const CpuKernel*>(handle); }
std::byte* memory_at(Pointer pointer) {
  return reinterpret_cast<std::byte*>(pointer);  // NOLINT(performance-no-int-to-ptr)
}

/// Queues `task` if the stream belongs to the current context.
template <class Task>
Status in_order(Stream stream, Task task) {
  if (const Status status = obstacle(); status != Status::success) return status;
  if (stream_of(stream).device != current) return Status::invalid_handle;
  stream_of(stream).push([task] {
    if (machine().state() == Status::success) task();
  });
  return Status::success;
}

Status launched(Function function, unsigned blocks, unsigned threads, Stream stream,
                void** arguments) {
  if (const Status status = obstacle(); status != Status::success) return status;
  if (stream_of(stream).device != current) return Status::invalid_handle;
  return machine().launch(stream_of(stream), kernel_of(function), static_cast<int>(blocks),
                          static_cast<int>(threads), arguments[0]);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

/// Reads the environment anew: a process that tests one fault after the other starts over each time.
Status cuInit(unsigned) {
  stub::start_over();
  return machine().faults().happens("no_device") ? Status::no_device : Status::success;
}

Status cuDriverGetVersion(int* version) {
  *version = machine().faults().happens("old_driver") ? kOldVersion : kVersion;
  return Status::success;
}

Status cuGetErrorName(Status status, const char** text) {
  switch (status) {
    case Status::out_of_memory:
      return *text = "CUDA_ERROR_OUT_OF_MEMORY", Status::success;
    case Status::launch_failed:
      return *text = "CUDA_ERROR_LAUNCH_FAILED", Status::success;
    default:
      return *text = "CUDA_ERROR", Status::success;
  }
}

Status cuGetErrorString(Status status, const char** text) {
  thread_local char line[64];
  (void)std::snprintf(line, sizeof line, "error %d of the stub driver", static_cast<int>(status));
  *text = line;
  return Status::success;
}

Status cuDeviceGetCount(int* count) { return *count = machine().devices(), Status::success; }

Status cuDeviceGet(Device* device, int ordinal) {
  if (!is_device(ordinal)) return Status::invalid_device;
  return *device = ordinal, Status::success;
}

Status cuDeviceGetName(char* name, int size, Device) {
  (void)std::snprintf(name, static_cast<std::size_t>(size), "%s", kName);
  return Status::success;
}

Status cuDeviceGetUuid_v2(Uuid* uuid, Device device) {
  *uuid = {};
  uuid->bytes[15] = static_cast<char>(machine().number(device));
  return Status::success;
}

Status cuDeviceGetPCIBusId(char* id, int size, Device device) {
  (void)std::snprintf(id, static_cast<std::size_t>(size), "ffff:%02x:00.0",
                      static_cast<unsigned>(machine().number(device)));
  return Status::success;
}

Status cuDeviceGetAttribute(int* value, Attribute attribute, Device device) {
  if (!is_device(device)) return Status::invalid_device;
  switch (attribute) {
    case Attribute::max_threads_per_block:
      return *value = stub::kMostThreads, Status::success;
    case Attribute::multiprocessor_count:
      return *value = machine().multiprocessors(), Status::success;
    case Attribute::l2_cache_size:
      return *value = 1 << 16, Status::success;
    case Attribute::compute_capability_major:
      return *value = 9, Status::success;
    case Attribute::compute_capability_minor:
      return *value = 0, Status::success;
    case Attribute::cooperative_launch:
      return *value = 1, Status::success;
  }
  return Status::invalid_value;
}

Status cuDeviceTotalMem_v2(std::size_t* bytes, Device) {
  return *bytes = stub::kMemory, Status::success;
}

Status cuDeviceCanAccessPeer(int* can, Device device, Device peer) {
  if (!is_device(device) || !is_device(peer)) return Status::invalid_device;
  *can = device != peer && !machine().faults().happens("no_peer_access") ? 1 : 0;
  return Status::success;
}

Status cuDevicePrimaryCtxRetain(Context* context, Device device) {
  if (!is_device(device)) return Status::invalid_device;
  machine().use(device);
  return *context = context_of(device), Status::success;
}

Status cuDevicePrimaryCtxRelease_v2(Device) { return Status::success; }

Status cuCtxSetCurrent(Context context) {
  current = device_of(context);
  return current < 0 ? Status::invalid_context : Status::success;
}

Status cuCtxEnablePeerAccess(Context peer, unsigned) {
  return device_of(peer) == current ? Status::invalid_device : obstacle();
}

Status cuModuleLoadData(Module* module, const void* image) {
  if (const Status status = obstacle(); status != Status::success) return status;
  if (image == nullptr) return Status::invalid_value;
  if (machine().faults().happens("no_code")) return Status::no_binary_for_gpu;
  static char loaded;
  return *module = reinterpret_cast<Module>(&loaded), Status::success;
}

Status cuModuleUnload(Module) { return Status::success; }

Status cuModuleGetFunction(Function* function, Module, const char* name) {
  const CpuKernel* const kernel = cpu_kernel(name);
  if (kernel == nullptr) return Status::not_found;
  *function = reinterpret_cast<Function>(const_cast<CpuKernel*>(kernel));
  return Status::success;
}

Status cuModuleGetGlobal_v2(Pointer* pointer, std::size_t* bytes, Module, const char* name) {
  if (const Status status = obstacle(); status != Status::success) return status;
  if (std::strcmp(name, "collmark_transfer_counts") != 0) return Status::not_found;
  *pointer = reinterpret_cast<Pointer>(&machine().counts(current));
  *bytes = sizeof(TransferCounts);
  return Status::success;
}

Status cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function, int threads,
                                                   std::size_t) {
  if (threads < 1) return Status::invalid_value;
  return *blocks = machine().blocks_of_multiprocessor(threads), Status::success;
}

Status cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  if (const Status status = obstacle(); status != Status::success) return status;
  *free = machine().free_memory(current);
  *total = stub::kMemory;
  return Status::success;
}

Status cuMemAlloc_v2(Pointer* pointer, std::size_t bytes) {
  if (const Status status = obstacle(); status != Status::success) return status;
  return machine().allocate(current, pointer, bytes);
}

Status cuMemFree_v2(Pointer pointer) {
  return current < 0 ? Status::invalid_context : machine().release(pointer);
}

Status cuMemGetAddressRange_v2(Pointer* base, std::size_t* bytes, Pointer pointer) {
  if (const Status status = obstacle(); status != Status::success) return status;
  return machine().find(pointer, base, bytes);
}

Status cuIpcGetMemHandle(IpcHandle* handle, Pointer pointer) {
  if (const Status status = obstacle(); status != Status::success) return status;
  return machine().export_memory(pointer, handle);
}

Status cuIpcOpenMemHandle_v2(Pointer* pointer, IpcHandle handle, unsigned flags) {
  if (flags != kIpcReachPeer) return Status::invalid_value;
  if (const Status status = obstacle(); status != Status::success) return status;
  return machine().open_memory(handle, pointer);
}

Status cuIpcCloseMemHandle(Pointer pointer) {
  return current < 0 ? Status::invalid_context : machine().close_memory(pointer);
}

Status cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  if (const Status status = obstacle(); status != Status::success) return status;
  *pointer = std::calloc(1, bytes);
  return *pointer == nullptr ? Status::out_of_memory : Status::success;
}

/// Once all streams are idle, as the real one does.
Status cuMemFreeHost(void* pointer) {
  machine().wait_for_streams();
  return std::free(pointer), Status::success;
}

Status cuMemHostGetDevicePointer_v2(Pointer* device, void* host, unsigned) {
  return *device = reinterpret_cast<Pointer>(host), Status::success;
}

Status cuMemcpyHtoDAsync_v2(Pointer to, const void* from, std::size_t bytes, Stream stream) {
  return in_order(stream, [=] { std::memcpy(memory_at(to), from, bytes); });
}

Status cuMemcpyDtoHAsync_v2(void* to, Pointer from, std::size_t bytes, Stream stream) {
  return in_order(stream, [=] { std::memcpy(to, memory_at(from), bytes); });
}

Status cuMemcpyAsync(Pointer to, Pointer from, std::size_t bytes, Stream stream) {
  return in_order(stream, [=] { std::memcpy(memory_at(to), memory_at(from), bytes); });
}

Status cuMemsetD8Async(Pointer to, unsigned char value, std::size_t bytes, Stream stream) {
  return in_order(stream, [=] { std::memset(memory_at(to), value, bytes); });
}

Status cuStreamCreate(Stream* stream, unsigned) {
  if (const Status status = obstacle(); status != Status::success) return status;
  *stream = reinterpret_cast<Stream>(machine().new_stream(current));
  return Status::success;
}

Status cuStreamDestroy_v2(Stream stream) { return machine().end(&stream_of(stream)); }

Status cuStreamWaitValue32_v2(Stream stream, Pointer word, unsigned value, unsigned flags) {
  if (flags != kWaitUntilEqualOrMore) return Status::not_supported;
  return in_order(stream, [=] {
    std::atomic_ref flag(*reinterpret_cast<std::uint32_t*>(memory_at(word)));
    while (!reached(flag.load(std::memory_order_acquire), value)) std::this_thread::yield();
  });
}

Status cuStreamBeginCapture_v2(Stream stream, CaptureMode) {
  if (const Status status = obstacle(); status != Status::success) return status;
  if (stream_of(stream).capture) return Status::invalid_value;
  stream_of(stream).capture = std::make_unique<stub::Graph>();
  return Status::success;
}

Status cuStreamEndCapture(Stream stream, Graph* graph) {
  if (!stream_of(stream).capture) return Status::invalid_value;
  *graph = reinterpret_cast<Graph>(stream_of(stream).capture.release());
  return Status::success;
}

Status cuGraphInstantiateWithFlags(GraphExec* exec, Graph graph, unsigned long long) {
  if (machine().faults().happens("no_graph")) return Status::not_supported;
  *exec = reinterpret_cast<GraphExec>(new stub::Graph(*reinterpret_cast<stub::Graph*>(graph)));
  return Status::success;
}

Status cuGraphLaunch(GraphExec exec, Stream stream) {
  if (const Status status = obstacle(); status != Status::success) return status;
  if (stream_of(stream).device != current) return Status::invalid_handle;
  for (const auto& task : reinterpret_cast<stub::Graph*>(exec)->tasks) stream_of(stream).push(task);
  return Status::success;
}

Status cuGraphExecDestroy(GraphExec exec) {
  return delete reinterpret_cast<stub::Graph*>(exec), Status::success;
}

Status cuGraphDestroy(Graph graph) {
  return delete reinterpret_cast<stub::Graph*>(graph), Status::success;
}

Status cuEventCreate(Event* event, unsigned) {
  if (const Status status = obstacle(); status != Status::success) return status;
  *event = reinterpret_cast<Event>(new EventOwner(std::make_shared<stub::Event>()));
  return Status::success;
}

Status cuEventDestroy_v2(Event event) { return delete &event_of(event), Status::success; }

Status cuEventRecord(Event event, Stream stream) {
  const EventOwner& owner = event_of(event);
  return in_order(stream, [owner, number = ++owner->recorded] {
    owner->at = std::chrono::steady_clock::now();
    owner->passed.store(number, std::memory_order_release);
  });
}

Status cuEventQuery(Event event) {
  if (machine().state() != Status::success) return machine().state();
  const stub::Event& e = *event_of(event);
  return e.passed.load(std::memory_order_acquire) == e.recorded ? Status::success
                                                                : Status::not_ready;
}

Status cuEventElapsedTime(float* milliseconds, Event start, Event end) {
  if (cuEventQuery(start) != Status::success || cuEventQuery(end) != Status::success)
    return Status::not_ready;
  *milliseconds =
      std::chrono::duration<float, std::milli>(event_of(end)->at - event_of(start)->at).count();
  return Status::success;
}

Status cuLaunchKernel(Function function, unsigned grid_x, unsigned, unsigned, unsigned block_x,
                      unsigned, unsigned, unsigned, Stream stream, void** arguments, void**) {
  return launched(function, grid_x, block_x, stream, arguments);
}

Status cuLaunchCooperativeKernel(Function function, unsigned grid_x, unsigned, unsigned,
                                 unsigned block_x, unsigned, unsigned, unsigned, Stream stream,
                                 void** arguments) {
  const int most =
      machine().multiprocessors() * machine().blocks_of_multiprocessor(static_cast<int>(block_x));
  if (static_cast<int>(grid_x) > most) return Status::cooperative_launch_too_large;
  return launched(function, grid_x, block_x, stream, arguments);
}

// These are for libraries beside collmark, as the stub of NCCL.

Status cuCtxGetCurrent(Context* context) {
  return *context = current < 0 ? nullptr : context_of(current), Status::success;
}

Status cuLaunchHostFunc(Stream stream, void (*function)(void*), void* data) {
  return in_order(stream, [function, data] { function(data); });
}

}  // extern "C"
#pragma GCC visibility pop

#define COLLMARK_SAME(name, symbol, parameters) \
  static_assert(std::is_same_v<decltype(&symbol), decltype(Functions::name)>);
COLLMARK_DRIVER_FUNCTIONS(COLLMARK_SAME)
#undef COLLMARK_SAME

}  // namespace collmark::cu
