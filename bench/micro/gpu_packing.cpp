/// Packing on a GPU: all buckets of one step, one launch each, timed by the GPU's own clock. Beside every reading the same
/// bytes are copied within the device; `of_copy` is the time of those copies over that of the packing, 1 where
/// packing costs no more than a copy of the whole message.
///
///     gpu_pack/resnet50/ddp/f32    gpu_unpack/...
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/micro/register.hpp"
#include "collectives/bucket.hpp"
#include "collectives/error.hpp"
#include "collectives/index.hpp"
#include "kernels/gpu_clock.hpp"
#include "kernels/gpu_packing.hpp"

namespace collmark::micro {
namespace {

constexpr unsigned char kNowhere = 0xA5;  // before something is moved there

/// What byte i holds before it is moved, there or back.
std::byte value_at(std::size_t i) { return static_cast<std::byte>((i * 37) ^ (i >> 9)); }

enum class Way { pack, unpack };

std::string_view name(Way way) { return way == Way::pack ? "pack" : "unpack"; }

/// A fault on demand, for the test of what happens then: a byte that was moved this way becomes wrong.
bool spoils(Way way) {
  const char* const asked = std::getenv("COLLMARK_TEST_CORRUPT");
  return asked != nullptr && asked == name(way);
}

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

  /// Moves every byte once, and looks at each.
  [[nodiscard]] bool is_right(Way way) {
    const bool packs = way == Way::pack;
    std::byte* const from = packs ? gradients_.data() : messages_.data();
    std::byte* const to = packs ? messages_.data() : gradients_.data();
    std::vector<std::byte> given(at(size().value)), got(given.size());
    for (std::size_t i = 0; i < given.size(); ++i) given[i] = value_at(i);
    stream_.copy_to_device(from, given.data(), size());
    stream_.set(to, kNowhere, size());
    move(way);
    if (spoils(way)) stream_.copy(to, to + size().value / 2, Bytes{1});
    stream_.copy_to_host(got.data(), to, size());
    clock_.finish();
    const std::byte* const gradients = (packs ? given : got).data();
    const std::byte* message = (packs ? got : given).data();
    for (const Run& run : order_) {
      if (std::memcmp(message, gradients + run.begin, run.size) != 0) return false;
      message += run.size;
    }
    return true;
  }

  [[nodiscard]] Seconds run(Way way) {
    clock_.start();
    move(way);
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
  void move(Way way) {
    for (const auto& bucket : buckets_) {
      way == Way::pack ? bucket->pack() : bucket->unpack();
      clock_.launched();
    }
  }
  GpuStream stream_, copies_;
  GpuMemory gradients_, messages_;
  std::vector<std::unique_ptr<GpuPacking>> buckets_;
  std::vector<Run> order_;
  GpuClock clock_, copy_clock_;
};

/// The GPUs, opened once for all cases, and the step that was measured last.
class Rig {
 public:
  /// Both ways of it have been checked.  Throws Error{absent}, one line, if there is no GPU.
  Step& step(const std::string& label, const ModelList& model, const std::vector<Bucket>& plan) {
    if (!gpus_) gpus_ = std::make_unique<Gpus>();
    if (step_ && label == label_) return *step_;
    step_.reset();  // first: both need not fit
    auto fresh = std::make_unique<Step>((*gpus_)[0], model, plan);
    for (const Way way : {Way::pack, Way::unpack})
      if (!fresh->is_right(way))
        throw Error(ErrorKind::wrong_result, fmt::format("{}: a byte is wrong", name(way)));
    (void)fresh->copy();
    label_ = label;
    step_ = std::move(fresh);
    return *step_;
  }
  [[nodiscard]] const std::string& device() const { return (*gpus_)[0].facts().name; }

 private:
  std::unique_ptr<Gpus> gpus_;
  std::string label_;
  std::unique_ptr<Step> step_;
};

void measure(benchmark::State& state, Step& step, Way way) {
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
}

void add(const std::shared_ptr<Rig>& rig, const std::string& network, const std::string& policy,
         Dtype dtype) {
  const ModelList model = load_model(network, dtype);
  const std::vector<Bucket> plan = plan_buckets(bucket_policy(policy), model.tensors);
  const std::string label = fmt::format("{}/{}/{}", network, policy, collmark::name(dtype));
  for (const Way way : {Way::pack, Way::unpack})
    benchmark::RegisterBenchmark(fmt::format("gpu_{}/{}", name(way), label).c_str(),
                                 [=](benchmark::State& state) {
                                   try {
                                     measure(state, rig->step(label, model, plan), way);
                                     state.SetLabel(rig->device());
                                   } catch (const std::exception& e) {
                                     state.SkipWithError(e.what());
                                   }
                                 })
        ->UseManualTime();
}

}  // namespace

void register_gpu_packing() {
  const auto rig = std::make_shared<Rig>();
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
    for (const char* const policy : {"per_tensor", "ddp", "byteps", "single"})
      add(rig, "resnet50", policy, dtype);
    add(rig, "dlrm-mlperf-dense", "ddp", dtype);  // 16 tensors
  }
}

}  // namespace collmark::micro
