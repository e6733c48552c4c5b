#include "kernels/driver.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

using cu::Status;

std::string driver_path() {
  const char* const chosen = std::getenv("COLLMARK_CUDA_DRIVER");
  return chosen != nullptr && *chosen != '\0' ? chosen : "libcuda.so.1";
}

Error absent(const std::string& why) { return Error(ErrorKind::absent, why); }

/// With it a launch returns only when it is done: ranks of two devices would wait for each other for ever, and a time would
/// be that of the host.
///   Source  CUDA C++ Programming Guide, CUDA Environment Variables
void refuse_blocking_launches() {
  const char* const blocks = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (blocks != nullptr && std::atoi(blocks) != 0)
    throw absent(std::string("CUDA_LAUNCH_BLOCKING=") + blocks +
                 " makes every launch wait for its end, and nothing can be measured so: unset it");
}

/// What to do about it, where that is known.
std::string_view advice(Status status) {
  switch (status) {
    case Status::out_of_memory:
      return "smaller sizes or fewer ranks need less";
    case Status::stub_library:
      return "this is the toolkit's stub, not a driver: take its folder out of LD_LIBRARY_PATH";
    case Status::no_device:
      return "see nvidia-smi, and CUDA_VISIBLE_DEVICES";
    case Status::device_unavailable:
      return "another process may hold the device alone: see nvidia-smi -q, Compute Mode";
    case Status::no_binary_for_gpu:
    case Status::invalid_image:
    case Status::invalid_ptx:
      return "build collmark with an nvcc that knows this GPU";
    case Status::unsupported_ptx_version:
    case Status::system_driver_mismatch:
      return "update the NVIDIA driver";
    case Status::compatibility_not_supported:
      return "take the folder of CUDA's compat libraries out of LD_LIBRARY_PATH";
    case Status::mps_connection_failed:
    case Status::mps_server_not_ready:
      return "is nvidia-cuda-mps-control running?";
    case Status::capture_unsupported:
    case Status::capture_invalidated:
      return "this driver makes no graph of it";
    case Status::system_not_ready:
      return "is nvidia-fabricmanager running?";
    case Status::ecc_uncorrectable:
    case Status::contained:
      return "see nvidia-smi -q, ECC Errors";
    case Status::nvlink_uncorrectable:
      return "see nvidia-smi nvlink -e";
    case Status::illegal_address:
    case Status::illegal_instruction:
    case Status::misaligned_address:
    case Status::invalid_address_space:
    case Status::invalid_pc:
    case Status::hardware_stack_error:
    case Status::launch_failed:
      return "compute-sanitizer shows where";
    case Status::launch_out_of_resources:
    case Status::cooperative_launch_too_large:
      return "take fewer --channels or --threads";
    default:
      return "";
  }
}

/// The case's own fault, or the device's that it was tried on: another case may run.
bool is_refused(Status status) {
  return status == Status::out_of_memory || status == Status::launch_out_of_resources ||
         status == Status::cooperative_launch_too_large || status == Status::not_supported ||
         status == Status::capture_unsupported || status == Status::capture_invalidated;
}

ErrorKind kind_of(Status status) {
  switch (status) {
    case Status::stub_library:
    case Status::no_device:
    case Status::no_binary_for_gpu:
    case Status::invalid_image:
    case Status::invalid_ptx:
    case Status::unsupported_ptx_version:
    case Status::system_not_ready:
    case Status::system_driver_mismatch:
    case Status::compatibility_not_supported:
    case Status::mps_connection_failed:
    case Status::mps_server_not_ready:
      return ErrorKind::absent;
    case Status::device_unavailable:
    case Status::ecc_uncorrectable:
    case Status::contained:
    case Status::nvlink_uncorrectable:
    case Status::illegal_address:
    case Status::launch_timeout:
    case Status::context_is_destroyed:
    case Status::assertion:
    case Status::hardware_stack_error:
    case Status::illegal_instruction:
    case Status::misaligned_address:
    case Status::invalid_address_space:
    case Status::invalid_pc:
    case Status::launch_failed:
    case Status::mps_client_terminated:
    case Status::unknown:
      return ErrorKind::lost;
    default:
      return ErrorKind::broken;
  }
}

/// One function of the library, whatever its type.
template <class Function>
void resolve(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (function == nullptr)
    throw absent(std::string("the CUDA driver has no ") + symbol +
                 ": update the NVIDIA driver to one for CUDA 12 or newer");
}

}  // namespace

void Driver::Library::operator()(void* handle) const { dlclose(handle); }

Driver::Driver() : Driver(driver_path()) {}

Driver::Driver(const std::string& path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!library_) throw absent(std::string("no CUDA driver: ") + dlerror());
  refuse_blocking_launches();
#define COLLMARK_RESOLVE(name, symbol, parameters) \
  resolve(library_.get(), #symbol, functions_.name);
  COLLMARK_DRIVER_FUNCTIONS(COLLMARK_RESOLVE)
#undef COLLMARK_RESOLVE
  check(functions_.init(0), "starting the CUDA driver");
  check(functions_.driver_get_version(&version_), "asking for the driver's version");
  check(functions_.device_get_count(&devices_), "counting GPUs");
  if (devices_ == 0) check(Status::no_device, "counting GPUs");
}

std::string Driver::words(Status status) const {
  const char* name = nullptr;
  const char* text = nullptr;
  (void)functions_.get_error_name(status, &name);
  (void)functions_.get_error_string(status, &text);
  std::string line = text != nullptr ? text : "error " + std::to_string(static_cast<int>(status));
  if (name != nullptr) line += std::string(" (") + name + ")";
  if (const std::string_view help = advice(status); !help.empty()) line += "; " + std::string(help);
  return line;
}

void Driver::check(Status status, std::string_view doing) const {
  if (status == Status::success) return;
  const std::string line = std::string(doing) + ": " + words(status);
  if (is_refused(status)) throw Unsupported(line);
  throw Error(kind_of(status), line);
}

std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace collmark
