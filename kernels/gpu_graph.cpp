#include "kernels/gpu.hpp"

namespace collmark {

GpuGraph::GpuGraph(const Gpu& gpu, cu::Graph captured) : gpu_(gpu) {
  gpu.use();
  const cu::Status status = gpu.driver()->graph_instantiate(&exec_, captured, 0);
  (void)gpu.driver()->graph_destroy(captured);
  gpu.check(status, "making a graph");
}

GpuGraph::~GpuGraph() { (void)gpu_.driver()->graph_exec_destroy(exec_); }

/// Relaxed: a library may allocate, or queue its work from a thread of its own.
void GpuStream::begin_capture() {
  gpu_.use();
  check(gpu_.driver()->stream_begin_capture(stream_, cu::CaptureMode::relaxed), "capturing");
}

std::unique_ptr<GpuGraph> GpuStream::end_capture() {
  gpu_.use();
  cu::Graph captured = nullptr;
  check(gpu_.driver()->stream_end_capture(stream_, &captured), "ending a capture");
  return std::make_unique<GpuGraph>(gpu_, captured);
}

void GpuStream::drop_capture() noexcept {
  (void)gpu_.driver()->context_set_current(gpu_.context());
  cu::Graph captured = nullptr;
  (void)gpu_.driver()->stream_end_capture(stream_, &captured);
  if (captured != nullptr) (void)gpu_.driver()->graph_destroy(captured);
}

void GpuStream::upload(const GpuGraph& graph) {
  gpu_.use();
  check(gpu_.driver()->graph_upload(graph.handle(), stream_), "bringing a graph to it");
}

void GpuStream::replay(const GpuGraph& graph) {
  gpu_.use();
  check(gpu_.driver()->graph_launch(graph.handle(), stream_), "launching a graph");
}

}  // namespace collmark
