/// Packing: the gradient tensors of one bucket are copied into one message. Bytes are read and
/// written once each.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "bench/micro/buffers.hpp"
#include "bench/micro/register.hpp"
#include "collectives/bucket.hpp"

namespace collmark::micro {
namespace {

/// Every bucket of one step, one after the other, through the same message buffer.
void pack(benchmark::State& state, const ModelList& model, const std::vector<Bucket>& plan) {
  std::vector<PageBuffer> tensors;
  for (const Tensor& t : model.tensors)
    tensors.push_back(memory(static_cast<std::size_t>(bytes_of(t).value), 0));
  Bytes largest{};
  for (const Bucket& b : plan) largest = std::max(largest, b.bytes());
  const PageBuffer message = memory(static_cast<std::size_t>(largest.value), 1);

  for ([[maybe_unused]] auto _ : state) {
    for (const Bucket& bucket : plan) {
      const std::size_t size = size_of(bucket.dtype);
      std::byte* to = message.data();
      for (const Piece& piece : bucket.pieces) {
        const std::size_t bytes = static_cast<std::size_t>(piece.count.value) * size;
        std::memcpy(to,
                    tensors[static_cast<std::size_t>(piece.tensor)].data() +
                        static_cast<std::size_t>(piece.offset.value) * size,
                    bytes);
        to += bytes;
      }
      benchmark::ClobberMemory();
    }
  }
  state.SetBytesProcessed(2 * bytes_of(model.tensors).value * state.iterations());
  state.counters["buckets"] = static_cast<double>(plan.size());
}

}  // namespace

void register_packing() {
  for (const char* const network : {"resnet18", "resnet50"}) {
    const ModelList model = load_model(network);
    for (const char* const policy : {"per_tensor", "ddp", "byteps", "single"}) {
      const std::vector<Bucket> plan = plan_buckets(bucket_policy(policy), model.tensors);
      benchmark::RegisterBenchmark(fmt::format("pack/{}/{}", network, policy).c_str(),
                                   [=](benchmark::State& s) { pack(s, model, plan); });
    }
  }
}

}  // namespace collmark::micro
