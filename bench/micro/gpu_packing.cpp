/// Packing on a GPU: all buckets of one step, one launch each, timed by the GPU's own clock. Beside every reading the same
/// bytes are copied within the device; `of_copy` is the time of those copies over that of the packing, 1 where
/// packing costs no more than a copy of the whole message.
///
///     gpu_pack/resnet50/ddp/f32    gpu_unpack/...
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/micro/register.hpp"
#include "collectives/bucket.hpp"
#include "collectives/error.hpp"
#include "kernels/gpu_clock.hpp"
#include "kernels/gpu_packing.hpp"

namespace collmark::micro {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// What byte i of the gradients holds before it is packed.
std::byte value_at(std::size_t i) { return static_cast<std::byte>((i * 37) ^ (i >> 9)); }

enum class Way { pack, unpack };

/// One step's gradients and messages, on the first GPU.
class Step {
 public:
  Step(Gpu& gpu, const ModelList& model, const std::vector<Bucket>& plan)
      : stream_(gpu),
        copies_(gpu),
        gradients_(gpu, bytes_of(model.tensors)),
        messages_(gpu, bytes_of(model.tensors)),
        clock_({&stream_}, {}),
        copy_clock_({&copies_}, {}) {
    std::vector<std::byte*> tensors{gradients_.data()};
    for (const Tensor& t : model.tensors) tensors.push_back(tensors.back() + bytes_of(t).value);
    std::byte* packed = messages_.data();
    for (const Bucket& bucket : plan) {
      const std::size_t element = size_of(bucket.dtype);
      std::vector<TensorPart> parts;
      for (const Piece& piece : bucket.pieces) {
        parts.push_back(
            {tensors[at(piece.tensor)] + at(piece.offset.value) * element, packed, piece.count});
        packed += at(piece.count.value) * element;
        order_.push_back(
            {at(parts.back().tensor - gradients_.data()), at(piece.count.value) * element});
      }
      buckets_.push_back(std::make_unique<GpuPacking>(stream_, bucket.dtype, parts));
    }
  }

  /// Every byte of the messages, after one packing.
  [[nodiscard]] bool is_packed_right() {
    std::vector<std::byte> given(at(size().value)), got(given.size());
    for (std::size_t i = 0; i < given.size(); ++i) given[i] = value_at(i);
    stream_.copy_to_device(gradients_.data(), given.data(), size());
    for (const auto& bucket : buckets_) bucket->pack();
    stream_.copy_to_host(got.data(), messages_.data(), size());
    clock_.finish();
    const std::byte* packed = got.data();
    for (const Run& run : order_) {
      if (std::memcmp(packed, given.data() + run.begin, run.size) != 0) return false;
      packed += run.size;
    }
    return true;
  }

  [[nodiscard]] Seconds run(Way way) {
    clock_.start();
    for (const auto& bucket : buckets_) {
      way == Way::pack ? bucket->pack() : bucket->unpack();
      clock_.launched();
    }
    return clock_.stop();
  }
  [[nodiscard]] Seconds copy() {
    copy_clock_.start();
    copies_.copy(messages_.data(), gradients_.data(), size());
    copy_clock_.launched();
    return copy_clock_.stop();
  }
  [[nodiscard]] Bytes size() const { return gradients_.size(); }
  [[nodiscard]] std::size_t buckets() const { return buckets_.size(); }

 private:
  struct Run {  // of the gradients, in the order of the messages
    std::size_t begin, size;
  };
  GpuStream stream_, copies_;
  GpuMemory gradients_, messages_;
  std::vector<std::unique_ptr<GpuPacking>> buckets_;
  std::vector<Run> order_;
  GpuClock clock_, copy_clock_;
};

void measure(benchmark::State& state, const ModelList& model, const std::vector<Bucket>& plan,
             Way way) {
  Gpus gpus;  // one line if there is none
  Step step(gpus[0], model, plan);
  if (!step.is_packed_right()) return state.SkipWithError("a packed byte is wrong");
  (void)step.copy();
  Seconds moving{0}, copying{0};
  for ([[maybe_unused]] auto _ : state) {
    const Seconds time = step.run(way);
    moving += time;
    copying += step.copy();
    state.SetIterationTime(time.count());
  }
  state.SetBytesProcessed(2 * step.size().value * state.iterations());
  state.counters["buckets"] = static_cast<double>(step.buckets());
  state.counters["of_copy"] = copying / moving;
  state.SetLabel(gpus[0].facts().name);
}

void measure_or_say_why(benchmark::State& state, const ModelList& model,
                        const std::vector<Bucket>& plan, Way way) {
  try {
    measure(state, model, plan, way);
  } catch (const std::exception& e) {
    state.SkipWithError(e.what());
  }
}

void add(const std::string& network, const std::string& policy, Dtype dtype) {
  const ModelList model = load_model(network, dtype);
  const std::vector<Bucket> plan = plan_buckets(bucket_policy(policy), model.tensors);
  for (const Way way : {Way::pack, Way::unpack})
    benchmark::RegisterBenchmark(
        fmt::format("gpu_{}/{}/{}/{}", way == Way::pack ? "pack" : "unpack", network, policy,
                    name(dtype))
            .c_str(),
        [=](benchmark::State& s) { measure_or_say_why(s, model, plan, way); })
        ->UseManualTime();
}

}  // namespace

void register_gpu_packing() {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
    for (const char* const policy : {"per_tensor", "ddp", "byteps", "single"})
      add("resnet50", policy, dtype);
    add("dlrm-mlperf-dense", "ddp", dtype);  // 16 tensors
  }
}

}  // namespace collmark::micro
