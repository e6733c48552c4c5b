/// Devices, contexts, modules and memory of the stub driver, by the names that a real driver exports. They return what a
/// real one would where it matters to collmark: calls without a current context, of a wrong device or with a stale handle
/// are refused. What goes through streams is in streams.cpp.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "kernels/stub_driver/handles.hpp"

namespace collmark::cu {
namespace {

constexpr const char* kName = "collmark stub (CPU, no GPU)";
constexpr int kVersion = 99'000;  // newer than any toolkit
constexpr int kOldVersion = 11'040;

}  // namespace

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
  if (machine().faults().happens("device_in_use")) return Status::device_unavailable;
  machine().retain(device);
  return *context = context_of(device), Status::success;
}

Status cuDevicePrimaryCtxRelease_v2(Device device) {
  return machine().release(device) ? Status::success : Status::invalid_context;
}

/// For tests: how often a device's context is held.
int collmark_stub_retained(Device device) { return machine().retained(device); }

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
  if (*pointer == nullptr) return Status::out_of_memory;
  return machine().pin(*pointer, bytes), Status::success;
}

/// Once all streams are idle, as the real one does.
Status cuMemFreeHost(void* pointer) {
  machine().wait_for_streams();
  machine().unpin(pointer);
  return std::free(pointer), Status::success;
}

Status cuMemHostGetDevicePointer_v2(Pointer* device, void* host, unsigned) {
  return *device = reinterpret_cast<Pointer>(host), Status::success;
}

Status cuCtxGetCurrent(Context* context) {
  return *context = current < 0 ? nullptr : context_of(current), Status::success;
}

}  // extern "C"

}  // namespace collmark::cu
