/// The part of the CUDA driver's binary interface that collmark calls, as libcuda.so.1 exports it. Declared here, so that
/// one program is built, tested and run with or without a toolkit and a GPU; where there is a toolkit, a test
/// compares every number with <cuda.h>.
///   Source  CUDA Driver API, cuda.h of CUDA 13.0. The names with _v2 are those that its macros call.
#pragma once

#include <cstddef>

namespace collmark::cu {

/// What every function returns.
enum class Status : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  stub_library = 34,
  device_unavailable = 46,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  map_failed = 205,
  no_binary_for_gpu = 209,
  ecc_uncorrectable = 214,
  peer_access_unsupported = 217,
  invalid_ptx = 218,
  nvlink_uncorrectable = 220,
  unsupported_ptx_version = 222,
  contained = 226,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  peer_access_already_enabled = 704,
  context_is_destroyed = 709,
  assertion = 710,
  too_many_peers = 711,
  hardware_stack_error = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_pc = 718,
  launch_failed = 719,
  cooperative_launch_too_large = 720,
  not_supported = 801,
  system_not_ready = 802,
  system_driver_mismatch = 803,
  compatibility_not_supported = 804,
  mps_connection_failed = 805,
  mps_server_not_ready = 807,
  mps_client_terminated = 810,
  capture_unsupported = 900,  // what a capture does not take; then ...
  capture_invalidated = 901,  // ... the rest of it is lost
  unknown = 999
};

enum class Attribute : int {
  max_threads_per_block = 1,
  multiprocessor_count = 16,
  l2_cache_size = 38,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  cooperative_launch = 95
};

using Device = int;
using Pointer = unsigned long long;  // device memory
struct Uuid {
  char bytes[16];
};
/// By which another process opens an allocation.
struct IpcHandle {
  char bytes[64];
};
// Handles; what they point to is the driver's.
struct ContextObject;
struct ModuleObject;
struct FunctionObject;
struct StreamObject;
struct EventObject;
struct GraphObject;
struct GraphExecObject;
using Context = ContextObject*;
using Module = ModuleObject*;
using Function = FunctionObject*;
using Stream = StreamObject*;
using Event = EventObject*;
using Graph = GraphObject*;
using GraphExec = GraphExecObject*;  // one that can be launched

/// Which calls a capture forbids while it lasts.
enum class CaptureMode : int { global = 0, thread_local_only = 1, relaxed = 2 };

inline constexpr unsigned kStreamNonBlocking = 1;  // does not wait for the default stream
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kHostMapped = 3;  // portable and mapped
inline constexpr unsigned kWaitUntilEqualOrMore = 0;
inline constexpr unsigned kIpcReachPeer = 1;  // also where the memory is another device's

/// F(name of the member, exported symbol, parameters)
#define COLLMARK_DRIVER_FUNCTIONS(F)                                                              \
  F(init, cuInit, (unsigned flags))                                                               \
  F(driver_get_version, cuDriverGetVersion, (int* version))                                       \
  F(get_error_name, cuGetErrorName, (Status status, const char** text))                           \
  F(get_error_string, cuGetErrorString, (Status status, const char** text))                       \
  F(device_get_count, cuDeviceGetCount, (int* count))                                             \
  F(device_get, cuDeviceGet, (Device * device, int ordinal))                                      \
  F(device_get_name, cuDeviceGetName, (char* name, int size, Device device))                      \
  F(device_get_uuid, cuDeviceGetUuid_v2, (Uuid * uuid, Device device))                            \
  F(device_get_pci_bus_id, cuDeviceGetPCIBusId, (char* id, int size, Device device))              \
  F(device_get_attribute, cuDeviceGetAttribute, (int* value, Attribute attribute, Device device)) \
  F(device_total_mem, cuDeviceTotalMem_v2, (std::size_t * bytes, Device device))                  \
  F(device_can_access_peer, cuDeviceCanAccessPeer, (int* can, Device device, Device peer))        \
  F(primary_context_retain, cuDevicePrimaryCtxRetain, (Context * context, Device device))         \
  F(primary_context_release, cuDevicePrimaryCtxRelease_v2, (Device device))                       \
  F(context_set_current, cuCtxSetCurrent, (Context context))                                      \
  F(context_enable_peer_access, cuCtxEnablePeerAccess, (Context peer, unsigned flags))            \
  F(module_load_data, cuModuleLoadData, (Module * module, const void* image))                     \
  F(module_unload, cuModuleUnload, (Module module))                                               \
  F(module_get_function, cuModuleGetFunction,                                                     \
    (Function * function, Module module, const char* name))                                       \
  F(module_get_global, cuModuleGetGlobal_v2,                                                      \
    (Pointer * pointer, std::size_t * bytes, Module module, const char* name))                    \
  F(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                       \
    (int* blocks, Function function, int threads, std::size_t dynamic_shared))                    \
  F(mem_get_info, cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                     \
  F(mem_alloc, cuMemAlloc_v2, (Pointer * pointer, std::size_t bytes))                             \
  F(mem_free, cuMemFree_v2, (Pointer pointer))                                                    \
  F(mem_get_address_range, cuMemGetAddressRange_v2,                                               \
    (Pointer * base, std::size_t * bytes, Pointer pointer))                                       \
  F(ipc_get, cuIpcGetMemHandle, (IpcHandle * handle, Pointer pointer))                            \
  F(ipc_open, cuIpcOpenMemHandle_v2, (Pointer * pointer, IpcHandle handle, unsigned flags))       \
  F(ipc_close, cuIpcCloseMemHandle, (Pointer pointer))                                            \
  F(mem_host_alloc, cuMemHostAlloc, (void** pointer, std::size_t bytes, unsigned flags))          \
  F(mem_free_host, cuMemFreeHost, (void* pointer))                                                \
  F(mem_host_get_device_pointer, cuMemHostGetDevicePointer_v2,                                    \
    (Pointer * device, void* host, unsigned flags))                                               \
  F(memcpy_to_device, cuMemcpyHtoDAsync_v2,                                                       \
    (Pointer to, const void* from, std::size_t bytes, Stream stream))                             \
  F(memcpy_to_host, cuMemcpyDtoHAsync_v2,                                                         \
    (void* to, Pointer from, std::size_t bytes, Stream stream))                                   \
  F(memcpy_anywhere, cuMemcpyAsync, (Pointer to, Pointer from, std::size_t bytes, Stream stream)) \
  F(memset_bytes, cuMemsetD8Async,                                                                \
    (Pointer to, unsigned char value, std::size_t bytes, Stream stream))                          \
  F(stream_create, cuStreamCreate, (Stream * stream, unsigned flags))                             \
  F(stream_destroy, cuStreamDestroy_v2, (Stream stream))                                          \
  F(stream_wait_value, cuStreamWaitValue32_v2,                                                    \
    (Stream stream, Pointer word, unsigned value, unsigned flags))                                \
  F(stream_begin_capture, cuStreamBeginCapture_v2, (Stream stream, CaptureMode mode))             \
  F(stream_end_capture, cuStreamEndCapture, (Stream stream, Graph * graph))                       \
  F(graph_instantiate, cuGraphInstantiateWithFlags,                                               \
    (GraphExec * exec, Graph graph, unsigned long long flags))                                    \
  F(graph_upload, cuGraphUpload, (GraphExec exec, Stream stream))                                 \
  F(graph_launch, cuGraphLaunch, (GraphExec exec, Stream stream))                                 \
  F(graph_exec_destroy, cuGraphExecDestroy, (GraphExec exec))                                     \
  F(graph_destroy, cuGraphDestroy, (Graph graph))                                                 \
  F(event_create, cuEventCreate, (Event * event, unsigned flags))                                 \
  F(event_destroy, cuEventDestroy_v2, (Event event))                                              \
  F(event_record, cuEventRecord, (Event event, Stream stream))                                    \
  F(event_query, cuEventQuery, (Event event))                                                     \
  F(event_elapsed, cuEventElapsedTime, (float* milliseconds, Event start, Event end))             \
  F(launch, cuLaunchKernel,                                                                       \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,      \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** arguments,  \
     void** extra))                                                                               \
  F(launch_cooperative, cuLaunchCooperativeKernel,                                                \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,      \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** arguments))

/// Pointers to all of them.
struct Functions {
#define COLLMARK_MEMBER(name, symbol, parameters) Status(*name) parameters = nullptr;
  COLLMARK_DRIVER_FUNCTIONS(COLLMARK_MEMBER)
#undef COLLMARK_MEMBER
};

}  // namespace collmark::cu
