/// What goes through streams of the stub driver: copies, waits, events, graphs and launches. Each stream is a thread that
/// works off what it is given.
#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>

#include "kernels/flag.hpp"
#include "kernels/stub_driver/handles.hpp"

namespace collmark::cu {
namespace {

Status launched(Function function, unsigned blocks, unsigned threads, Stream stream,
                void** arguments) {
  if (const Status status = obstacle(); status != Status::success) return status;
  if (stream_of(stream).device != current) return Status::invalid_handle;
  if (stream_of(stream).capture && machine().faults().happens("no_capture")) {
    stream_of(stream).capture_is_void = true;
    return Status::capture_unsupported;
  }
  return machine().launch(stream_of(stream), kernel_of(function), static_cast<int>(blocks),
                          static_cast<int>(threads), arguments[0]);
}

/// Queues a copy.
template <class Task>
Status in_time(Stream stream, Task task) {
  return in_order(stream, [stream, task] {
    task();
    machine().play(stream_of(stream), 1);
  });
}

}  // namespace

extern "C" {

Status cuMemcpyHtoDAsync_v2(Pointer to, const void* from, std::size_t bytes, Stream stream) {
  return in_time(stream, [=] { std::memcpy(memory_at(to), from, bytes); });
}

/// Into pageable memory it returns when it is done (CUDA Driver API, API synchronization behavior).
Status cuMemcpyDtoHAsync_v2(void* to, Pointer from, std::size_t bytes, Stream stream) {
  const Status status = in_time(stream, [=] { std::memcpy(to, memory_at(from), bytes); });
  if (status == Status::success && !stream_of(stream).capture && !machine().is_pinned(to))
    stream_of(stream).queue.drain();
  return status;
}

Status cuMemcpyAsync(Pointer to, Pointer from, std::size_t bytes, Stream stream) {
  return in_time(stream, [=] { std::memcpy(memory_at(to), memory_at(from), bytes); });
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
  if (std::exchange(stream_of(stream).capture_is_void, false)) {
    stream_of(stream).capture.reset();
    return *graph = nullptr, Status::capture_invalidated;
  }
  *graph = reinterpret_cast<Graph>(stream_of(stream).capture.release());
  return Status::success;
}

Status cuGraphInstantiateWithFlags(GraphExec* exec, Graph graph, unsigned long long) {
  if (machine().faults().happens("no_graph")) return Status::not_supported;
  *exec = reinterpret_cast<GraphExec>(new stub::Graph(*reinterpret_cast<stub::Graph*>(graph)));
  return Status::success;
}

Status cuGraphUpload(GraphExec, Stream stream) {
  return in_order(stream, [] {});
}

Status cuGraphLaunch(GraphExec exec, Stream stream) {
  if (machine().faults().happens("no_graph_launch")) return Status::not_supported;
  if (const Status status = obstacle(); status != Status::success) return status;
  if (stream_of(stream).device != current) return Status::invalid_handle;
  for (const auto& task : reinterpret_cast<stub::Graph*>(exec)->tasks) stream_of(stream).push(task);
  if (machine().faults().happens("blocking_graph")) stream_of(stream).queue.drain();
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
  return in_order(stream, [stream, owner, number = ++owner->recorded] {
    owner->at = machine().now(stream_of(stream));
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

void collmark_stub_never_ends() { machine().never_ends(); }

Status collmark_stub_launch_host(Stream stream, const HostWork* work) {
  const std::shared_ptr<void> data(work->data, work->release);
  return in_order(stream, [data, run = work->run] { run(data.get()); });
}

}  // extern "C"

}  // namespace collmark::cu
