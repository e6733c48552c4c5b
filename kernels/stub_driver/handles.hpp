/// What the functions of the stub driver share: what their handles are, and which calls they refuse.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/stub_driver/device.hpp"
#include "kernels/stub_driver/host_work.hpp"

namespace collmark::cu {

#pragma GCC visibility push(default)
extern "C" {
// A definition that differs from what collmark calls does not compile.
#define COLLMARK_DECLARE(name, symbol, parameters) Status symbol parameters;
COLLMARK_DRIVER_FUNCTIONS(COLLMARK_DECLARE)
#undef COLLMARK_DECLARE
// For libraries beside collmark, as the stub of NCCL:
Status cuCtxGetCurrent(Context* context);
int collmark_stub_retained(Device device);
void collmark_stub_never_ends();  // what is in its streams
Status collmark_stub_launch_host(Stream stream, const HostWork* work);
}
#pragma GCC visibility pop

using stub::machine;

inline thread_local int current = -1;  // device of the calling thread's context

inline Context context_of(int device) {
  static char places[64];
  return reinterpret_cast<Context>(&places[device]);
}
inline int device_of(Context context) {
  for (int i = 0; i < machine().devices(); ++i)
    if (context_of(i) == context) return i;
  return -1;
}
inline bool is_device(int device) { return device >= 0 && device < machine().devices(); }

/// Why a call that needs a context cannot be served.
inline Status obstacle() { return current < 0 ? Status::invalid_context : machine().state(); }

inline stub::Stream& stream_of(Stream handle) { return *reinterpret_cast<stub::Stream*>(handle); }
/// Shared with the streams in which it is recorded: it may be destroyed before they come to it.
using EventOwner = std::shared_ptr<stub::Event>;
inline EventOwner& event_of(Event handle) { return *reinterpret_cast<EventOwner*>(handle); }
inline const CpuKernel& kernel_of(Function handle) {
  return *reinterpret_cast<const CpuKernel*>(handle);
}
inline std::byte* memory_at(Pointer pointer) {
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

}  // namespace collmark::cu
