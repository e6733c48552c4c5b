/// Compares driver_abi.hpp with the toolkit's own header.
#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <type_traits>

#include "kernels/driver_abi.hpp"

namespace collmark {
namespace {

#define COLLMARK_STATUS(ours, theirs) \
  static_assert(static_cast<int>(cu::Status::ours) == CUDA_ERROR_##theirs)
static_assert(static_cast<int>(cu::Status::success) == CUDA_SUCCESS);
COLLMARK_STATUS(invalid_value, INVALID_VALUE);
COLLMARK_STATUS(out_of_memory, OUT_OF_MEMORY);
COLLMARK_STATUS(not_initialized, NOT_INITIALIZED);
COLLMARK_STATUS(stub_library, STUB_LIBRARY);
COLLMARK_STATUS(device_unavailable, DEVICE_UNAVAILABLE);
COLLMARK_STATUS(no_device, NO_DEVICE);
COLLMARK_STATUS(invalid_device, INVALID_DEVICE);
COLLMARK_STATUS(invalid_image, INVALID_IMAGE);
COLLMARK_STATUS(invalid_context, INVALID_CONTEXT);
COLLMARK_STATUS(map_failed, MAP_FAILED);
COLLMARK_STATUS(peer_access_unsupported, PEER_ACCESS_UNSUPPORTED);
COLLMARK_STATUS(no_binary_for_gpu, NO_BINARY_FOR_GPU);
COLLMARK_STATUS(ecc_uncorrectable, ECC_UNCORRECTABLE);
COLLMARK_STATUS(invalid_ptx, INVALID_PTX);
COLLMARK_STATUS(unsupported_ptx_version, UNSUPPORTED_PTX_VERSION);
COLLMARK_STATUS(invalid_handle, INVALID_HANDLE);
COLLMARK_STATUS(not_found, NOT_FOUND);
COLLMARK_STATUS(not_ready, NOT_READY);
COLLMARK_STATUS(illegal_address, ILLEGAL_ADDRESS);
COLLMARK_STATUS(launch_out_of_resources, LAUNCH_OUT_OF_RESOURCES);
COLLMARK_STATUS(launch_timeout, LAUNCH_TIMEOUT);
COLLMARK_STATUS(too_many_peers, TOO_MANY_PEERS);
COLLMARK_STATUS(peer_access_already_enabled, PEER_ACCESS_ALREADY_ENABLED);
COLLMARK_STATUS(launch_failed, LAUNCH_FAILED);
COLLMARK_STATUS(cooperative_launch_too_large, COOPERATIVE_LAUNCH_TOO_LARGE);
COLLMARK_STATUS(not_supported, NOT_SUPPORTED);
COLLMARK_STATUS(system_not_ready, SYSTEM_NOT_READY);
COLLMARK_STATUS(system_driver_mismatch, SYSTEM_DRIVER_MISMATCH);
COLLMARK_STATUS(compatibility_not_supported, COMPAT_NOT_SUPPORTED_ON_DEVICE);
COLLMARK_STATUS(mps_connection_failed, MPS_CONNECTION_FAILED);
COLLMARK_STATUS(mps_server_not_ready, MPS_SERVER_NOT_READY);
COLLMARK_STATUS(capture_unsupported, STREAM_CAPTURE_UNSUPPORTED);
COLLMARK_STATUS(capture_invalidated, STREAM_CAPTURE_INVALIDATED);
COLLMARK_STATUS(unknown, UNKNOWN);

#define COLLMARK_ATTRIBUTE(ours, theirs) \
  static_assert(static_cast<int>(cu::Attribute::ours) == CU_DEVICE_ATTRIBUTE_##theirs)
COLLMARK_ATTRIBUTE(max_threads_per_block, MAX_THREADS_PER_BLOCK);
COLLMARK_ATTRIBUTE(multiprocessor_count, MULTIPROCESSOR_COUNT);
COLLMARK_ATTRIBUTE(l2_cache_size, L2_CACHE_SIZE);
COLLMARK_ATTRIBUTE(compute_capability_major, COMPUTE_CAPABILITY_MAJOR);
COLLMARK_ATTRIBUTE(compute_capability_minor, COMPUTE_CAPABILITY_MINOR);
COLLMARK_ATTRIBUTE(cooperative_launch, COOPERATIVE_LAUNCH);

static_assert(cu::kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(cu::kEventDefault == CU_EVENT_DEFAULT);
static_assert(cu::kHostMapped == (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
static_assert(cu::kWaitUntilEqualOrMore == CU_STREAM_WAIT_VALUE_GEQ);
static_assert(static_cast<int>(cu::CaptureMode::global) == CU_STREAM_CAPTURE_MODE_GLOBAL);
static_assert(static_cast<int>(cu::CaptureMode::thread_local_only) ==
              CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(static_cast<int>(cu::CaptureMode::relaxed) == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(cu::kIpcReachPeer == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
static_assert(std::is_same_v<cu::Device, CUdevice> && std::is_same_v<cu::Pointer, CUdeviceptr>);
static_assert(sizeof(cu::Uuid) == sizeof(CUuuid) &&
              sizeof(cu::IpcHandle) == sizeof(CUipcMemHandle) &&
              sizeof(cu::Status) == sizeof(CUresult) &&
              sizeof(cu::Attribute) == sizeof(CUdevice_attribute));

/// A parameter list with our types in the place of theirs: two functions are alike if the lists are.
template <class T>
struct Ours {
  using type = T;
};
#define COLLMARK_TYPE(theirs, ours) \
  template <>                       \
  struct Ours<theirs> {             \
    using type = ours;              \
  }
COLLMARK_TYPE(CUresult, cu::Status);
COLLMARK_TYPE(CUdevice_attribute, cu::Attribute);
COLLMARK_TYPE(CUuuid, cu::Uuid);
COLLMARK_TYPE(CUipcMemHandle, cu::IpcHandle);
COLLMARK_TYPE(CUcontext, cu::Context);
COLLMARK_TYPE(CUmodule, cu::Module);
COLLMARK_TYPE(CUfunction, cu::Function);
COLLMARK_TYPE(CUstream, cu::Stream);
COLLMARK_TYPE(CUevent, cu::Event);
COLLMARK_TYPE(CUgraph, cu::Graph);
COLLMARK_TYPE(CUgraphExec, cu::GraphExec);
COLLMARK_TYPE(CUstreamCaptureMode, cu::CaptureMode);
template <class T>
requires(!std::is_same_v<typename Ours<T>::type, T>) struct Ours<T*> {
  using type = typename Ours<T>::type*;
};
template <class Result, class... Parameters>
struct Ours<Result (*)(Parameters...)> {
  using type = typename Ours<Result>::type (*)(typename Ours<Parameters>::type...);
};

#define COLLMARK_ALIKE(name, symbol, parameters)                                               \
  static_assert(                                                                               \
      std::is_same_v<decltype(cu::Functions::name), typename Ours<decltype(&::symbol)>::type>, \
      #symbol);
COLLMARK_DRIVER_FUNCTIONS(COLLMARK_ALIKE)

TEST(DriverAbi, EveryFunctionIsExportedByTheToolkitsOwnLibrary) {
  const std::filesystem::path library = COLLMARK_TOOLKIT_STUB;
  if (!std::filesystem::exists(library)) GTEST_SKIP() << library << " is not installed";
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
#define COLLMARK_FOUND(name, symbol, parameters) \
  EXPECT_NE(dlsym(handle, #symbol), nullptr) << #symbol;
  COLLMARK_DRIVER_FUNCTIONS(COLLMARK_FOUND)
  dlclose(handle);
}

}  // namespace
}  // namespace collmark
