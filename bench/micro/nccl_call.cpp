/// What a call of NCCL costs where there is nothing to send: an all-reduce of one rank runs no kernel of NCCL's, and out of
/// place copies its input (NCCL, src/enqueue.cc, ncclLaunchOneRank). The time is the host's, until the call has queued its
/// work; `device_us` is what the stream then took by its own clock. On one GPU that is all that can be had of NCCL.
///
///     nccl_one_rank/8/in_place    nccl_one_rank/67108864/out_of_place    [bytes]
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <string>

#include "bench/micro/register.hpp"
#include "kernels/gpu_clock.hpp"
#include "kernels/nccl/nccl_collective.hpp"

namespace collmark::micro {
namespace {

void measure(benchmark::State& state, Bytes size, Placement placement) {
  Gpus gpus(0);  // one line if there is none
  const Nccl nccl;
  const HostPatience patience;
  NcclGroup group(nccl, {&gpus[0]}, patience);
  NcclCollective all_reduce(
      group, {.payload = {.count = {size.value / 4}, .dtype = Dtype::f32}, .placement = placement},
      NcclBuffers::plain);
  GpuClock clock({&all_reduce.stream(0)}, patience);
  all_reduce.run();  // the first one prepares
  clock.finish();
  Seconds on_device{0};
  for ([[maybe_unused]] auto _ : state) {
    clock.start();
    const auto begin = std::chrono::steady_clock::now();
    all_reduce.run();
    state.SetIterationTime(Seconds(std::chrono::steady_clock::now() - begin).count());
    clock.launched();
    on_device += clock.stop();
  }
  state.counters["device_us"] = on_device.count() * 1e6 / static_cast<double>(state.iterations());
  state.SetLabel(nccl.name() + ", " + gpus[0].facts().name);
}

void measure_or_say_why(benchmark::State& state, Bytes size, Placement placement) {
  try {
    measure(state, size, placement);
  } catch (const std::exception& e) {
    state.SkipWithError(e.what());
  }
}

}  // namespace

void register_nccl_call() {
  for (const std::int64_t size : {8, 1 << 20, 64 << 20})
    for (const Placement placement : {Placement::in_place, Placement::out_of_place})
      benchmark::RegisterBenchmark(
          fmt::format("nccl_one_rank/{}/{}", size,
                      placement == Placement::in_place ? "in_place" : "out_of_place")
              .c_str(),
          [=](benchmark::State& s) { measure_or_say_why(s, Bytes{size}, placement); })
          ->UseManualTime();
}

}  // namespace collmark::micro
