/// Speed of the reduction passes, per dtype, operator, shape (k sources, m destinations), stores and
/// instruction set, beside the C library's copy and a plain loop. bytes_per_second counts every
/// byte read and every byte written once: (k + m) x count x size.
///
///     reduce/f32/sum/k2m2/262144/cached/avx512          262144 = bytes of each buffer
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/micro/buffers.hpp"
#include "bench/micro/register.hpp"
#include "collectives/reduce.hpp"

namespace collmark::micro {
namespace {

struct Case {
  Dtype dtype = Dtype::f32;
  ReduceOp op = ReduceOp::sum;
  std::size_t sources = 2;
  std::size_t destinations = 1;
  std::size_t bytes = 256 * 1024;  // of each buffer
  Stores stores = Stores::cached;
  InstructionSet set = best_instruction_set();
};

std::string label(const Case& c) {
  return fmt::format("reduce/{}/{}/k{}m{}/{}/{}/{}", name(c.dtype), name(c.op), c.sources,
                     c.destinations, c.bytes, c.stores == Stores::cached ? "cached" : "streaming",
                     name(c.set));
}

void count_bytes(benchmark::State& state, std::size_t per_iteration) {
  state.SetBytesProcessed(static_cast<std::int64_t>(per_iteration) * state.iterations());
}

void reduce(benchmark::State& state, const Case& c) {
  std::vector<PageBuffer> owned;
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> destinations;
  for (std::size_t j = 0; j < c.sources; ++j)
    sources.push_back(owned.emplace_back(memory(c.bytes, 0)).data());
  for (std::size_t m = 0; m < c.destinations; ++m)
    destinations.push_back(owned.emplace_back(memory(c.bytes, 1)).data());
  const ReducePass pass = reduce_pass(c.dtype, c.op, c.set);
  for ([[maybe_unused]] auto _ : state) {
    pass(sources, destinations, c.bytes / size_of(c.dtype), c.stores);
    benchmark::ClobberMemory();
  }
  streaming_fence();
  count_bytes(state, (c.sources + c.destinations) * c.bytes);
}

void average(benchmark::State& state, Dtype dtype, InstructionSet set) {
  constexpr std::size_t kBytes = 256 * 1024;
  const PageBuffer buffer = memory(kBytes, 0);
  const AveragePass pass = average_pass(dtype, set);
  for ([[maybe_unused]] auto _ : state) {
    pass(buffer.data(), kBytes / size_of(dtype), 3);
    benchmark::ClobberMemory();
  }
  count_bytes(state, 2 * kBytes);
}

/// What a copy costs without us.
void library_copy(benchmark::State& state, std::size_t bytes) {
  const PageBuffer from = memory(bytes, 0), to = memory(bytes, 1);
  for ([[maybe_unused]] auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  count_bytes(state, 2 * bytes);
}

/// What a sum costs as everybody would write it.
void plain_sum(benchmark::State& state, std::size_t bytes) {
  const std::size_t count = bytes / sizeof(float);
  const std::vector<float> a(count, 1.0F), b(count, 2.0F);
  std::vector<float> to(count, 3.0F);
  for ([[maybe_unused]] auto _ : state) {
    for (std::size_t i = 0; i < count; ++i) to[i] = a[i] + b[i];
    benchmark::ClobberMemory();
  }
  count_bytes(state, 3 * bytes);
}

void add(const Case& c) {
  benchmark::RegisterBenchmark(label(c).c_str(), [c](benchmark::State& s) { reduce(s, c); });
}

constexpr std::size_t kSizes[] = {4096, 32 * 1024, 256 * 1024, 4 << 20, 64 << 20};  // [bytes]
struct Shape {
  std::size_t sources, destinations;
};
constexpr Shape kShapes[] = {{1, 1}, {1, 2}, {1, 4}, {2, 1}, {2, 2},
                             {3, 1}, {4, 1}, {4, 4}, {8, 8}};

}  // namespace

void register_reduce() {
  for (const std::size_t bytes : kSizes) {
    benchmark::RegisterBenchmark(fmt::format("memcpy/{}", bytes).c_str(),
                                 [bytes](benchmark::State& s) { library_copy(s, bytes); });
    benchmark::RegisterBenchmark(fmt::format("plain_sum/f32/{}", bytes).c_str(),
                                 [bytes](benchmark::State& s) { plain_sum(s, bytes); });
  }
  for (const InstructionSet set :
       {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
    if (reduce_pass(Dtype::f32, ReduceOp::sum, set) == nullptr) continue;
    for (const auto [k, m] : kShapes)
      for (const std::size_t bytes : kSizes)
        for (const Stores stores : {Stores::cached, Stores::streaming})
          add({.sources = k, .destinations = m, .bytes = bytes, .stores = stores, .set = set});
    for (const Dtype dtype : kDtypes) {
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max})
        if (dtype != Dtype::f32 || op != ReduceOp::sum) add({.dtype = dtype, .op = op, .set = set});
      benchmark::RegisterBenchmark(fmt::format("average/{}/{}", name(dtype), name(set)).c_str(),
                                   [dtype, set](benchmark::State& s) { average(s, dtype, set); });
    }
  }
}

}  // namespace collmark::micro
