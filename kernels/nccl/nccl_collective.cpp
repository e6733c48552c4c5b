#include "kernels/nccl/nccl_collective.hpp"

#include <fmt/format.h>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"
#include "collectives/partition.hpp"

namespace collmark {
namespace {

using nccl::Result;

nccl::DataType type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return nccl::DataType::f32;
    case Dtype::f64:
      return nccl::DataType::f64;
    case Dtype::f16:
      return nccl::DataType::f16;
    case Dtype::bf16:
      return nccl::DataType::bf16;
    case Dtype::i32:
      return nccl::DataType::i32;
    case Dtype::i64:
      return nccl::DataType::i64;
    case Dtype::u8:
      break;
  }
  return nccl::DataType::u8;
}

nccl::Op op_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
      return nccl::Op::prod;
    case ReduceOp::min:
      return nccl::Op::min;
    case ReduceOp::max:
      return nccl::Op::max;
    case ReduceOp::avg:
      return nccl::Op::avg;
    case ReduceOp::sum:
      break;
  }
  return nccl::Op::sum;
}

bool is_float(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f64 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

bool takes_equal_chunks(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::all_gather;
}

Schedule shape_of(const NcclTask& task, int ranks) {
  const int halves = task.collective == Collective::all_to_all ? 2 : 1;  // input, output
  return {
      .ranks = ranks, .chunks = halves * ranks, .collective = task.collective, .root = task.root};
}

}  // namespace

std::string nccl_obstacle(const NcclTask& task, int ranks) {
  const auto [count, dtype, op] = task.payload;
  if (task.collective == Collective::barrier) return "NCCL has no barrier";
  if (task.collective == Collective::all_to_all && task.placement == Placement::in_place)
    return "all_to_all in place: blocks would overwrite others not yet sent";
  if (takes_equal_chunks(task.collective) && count.value % ranks != 0)
    return fmt::format("NCCL's {} has equal parts: {} elements are no multiple of {} ranks",
                       name(task.collective), count.value, ranks);
  // src/enqueue.cc, hostToDevRedOp: floats are multiplied by 1/ranks before they are added, integers are divided at last.
  if (reduces(task.collective) && op == ReduceOp::avg && is_float(dtype) &&
      (ranks & (ranks - 1)) != 0)
    return fmt::format(
        "avg of {}: NCCL multiplies each input by 1/{} rounded, so that no result is exact",
        name(dtype), ranks);
  return "";
}

/// Memory of one rank, registered with its communicator or not.
class NcclCollective::Buffer {
 public:
  Buffer(NcclGroup& group, int device, Bytes size, NcclBuffers buffers)
      : group_(group), gpu_(group.gpu(device)), comm_(group.comm(device)) {
    if (buffers == NcclBuffers::plain) {
      plain_ = GpuMemory(gpu_, size);
      return;
    }
    const Nccl& nccl = group.nccl();
    if (!nccl.registers())
      throw Unsupported(nccl.name() + " does not register buffers: that came with 2.19");
    if (size.value == 0) return;
    const auto bytes = static_cast<std::size_t>(size.value);
    gpu_.use();
    if (nccl->mem_alloc(&registered_, bytes) != Result::success)
      throw Unsupported(
          fmt::format("GPU {}: NCCL cannot allocate {} B", gpu_.facts().ordinal, size.value));
    const Result result = nccl->register_buffer(comm_, registered_, bytes, &handle_);
    if (result == Result::success) return;
    (void)nccl->mem_free(registered_);
    nccl.check(result, comm_, "registering a buffer");
  }
  /// After an abort the communicator knows no buffers any more.
  ~Buffer() {
    if (registered_ == nullptr) return;
    const Nccl& nccl = group_.nccl();
    (void)gpu_.driver()->context_set_current(gpu_.context());
    if (handle_ != nullptr && !group_.aborted()) (void)nccl->deregister_buffer(comm_, handle_);
    (void)nccl->mem_free(registered_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::byte* data() const {
    return registered_ != nullptr ? static_cast<std::byte*>(registered_) : plain_.data();
  }

 private:
  NcclGroup& group_;
  Gpu& gpu_;
  nccl::Comm comm_;
  GpuMemory plain_;
  void* registered_ = nullptr;
  void* handle_ = nullptr;
};

NcclCollective::NcclCollective(NcclGroup& group, const NcclTask& task)
    : group_(group),
      task_(task),
      shape_(shape_of(task, group.size())),
      doing_(name(task.collective)),
      element_(size_of(task.payload.dtype)) {
  if (const std::string obstacle = nccl_obstacle(task, group.size()); !obstacle.empty())
    throw Unsupported(obstacle);
  each_ = static_cast<std::size_t>(task.payload.count.value / group.size());
}

NcclCollective::NcclCollective(NcclGroup& group, const NcclTask& task, NcclBuffers buffers)
    : NcclCollective(group, task) {
  const Bytes size{task.payload.count.value * static_cast<std::int64_t>(element_)};
  for (int d = 0; d < group.here().count; ++d) {
    Part& part = parts_.emplace_back();
    part.memory.push_back(std::make_unique<Buffer>(group, d, size, buffers));
    part.input = part.output = part.memory.back()->data();
    if (task.placement == Placement::out_of_place) {
      part.memory.push_back(std::make_unique<Buffer>(group, d, size, buffers));
      part.output = part.memory.back()->data();
    }
    part.own_stream = std::make_unique<GpuStream>(group.gpu(d));
    part.stream = part.own_stream.get();
  }
}

NcclCollective::NcclCollective(NcclGroup& group, const NcclTask& task, const GpuPlace& place)
    : NcclCollective(group, task) {
  if (task.placement != Placement::in_place)
    throw Error(ErrorKind::broken, "buffers of others are for a collective in place");
  const std::size_t here = at(group.here().count);
  if (place.streams.size() != here || place.buffers.size() != here)
    throw Error(ErrorKind::broken, fmt::format("{} streams and {} buffers for {} ranks of NCCL",
                                               place.streams.size(), place.buffers.size(), here));
  for (std::size_t d = 0; d < here; ++d) {
    Part& part = parts_.emplace_back();
    part.input = part.output = place.buffers[d];
    part.stream = place.streams[d];
  }
}

NcclCollective::~NcclCollective() = default;

void NcclCollective::run() {
  group_.together(doing_, [this](int device) { return call(device); });
}

/// Chunks lie in a rank's buffers where all ranks' would: in place is what NCCL calls so.
Result NcclCollective::call(int device) const {
  const Nccl& nccl = group_.nccl();
  const Part& part = parts_[at(device)];
  const nccl::Comm comm = group_.comm(device);
  const cu::Stream stream = part.stream->handle();
  const auto count = static_cast<std::size_t>(task_.payload.count.value);
  const nccl::DataType type = type_of(task_.payload.dtype);
  const nccl::Op op = op_of(task_.payload.op);
  const std::size_t mine = at(group_.here().first + device) * each_ * element_;
  switch (task_.collective) {
    case Collective::all_reduce:
      return nccl->all_reduce(part.input, part.output, count, type, op, comm, stream);
    case Collective::reduce_scatter:
      return nccl->reduce_scatter(part.input, part.output + mine, each_, type, op, comm, stream);
    case Collective::all_gather:
      return nccl->all_gather(part.input + mine, part.output, each_, type, comm, stream);
    case Collective::broadcast:
      return nccl->broadcast(part.input, part.output, count, type, task_.root, comm, stream);
    case Collective::reduce:
      return nccl->reduce(part.input, part.output, count, type, op, task_.root, comm, stream);
    case Collective::all_to_all:
      return exchange(device);
    case Collective::barrier:
      break;
  }
  return Result::invalid_usage;
}

/// NCCL has an all-to-all since 2.28 only, which does the same.
Result NcclCollective::exchange(int device) const {
  const Nccl& nccl = group_.nccl();
  const Part& part = parts_[at(device)];
  const nccl::Comm comm = group_.comm(device);
  const cu::Stream stream = part.stream->handle();
  const nccl::DataType type = type_of(task_.payload.dtype);
  const auto went_wrong = [](Result r) { return r != Result::success && r != Result::in_progress; };
  for (int peer = 0; peer < group_.size(); ++peer) {
    const std::size_t block = at(peer) * each_ * element_;
    Result result = nccl->send(part.input + block, each_, type, peer, comm, stream);
    if (!went_wrong(result))
      result = nccl->receive(part.output + block, each_, type, peer, comm, stream);
    if (went_wrong(result)) return result;
  }
  return Result::success;
}

}  // namespace collmark
