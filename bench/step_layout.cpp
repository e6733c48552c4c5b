#include "bench/step_layout.hpp"

#include <algorithm>
#include <numeric>

namespace collmark {
namespace {

std::size_t arena_for(std::vector<StepLayout::Arena>& arenas, Dtype dtype) {
  const auto found = std::find_if(arenas.begin(), arenas.end(),
                                  [&](const auto& arena) { return arena.dtype == dtype; });
  if (found != arenas.end()) return static_cast<std::size_t>(found - arenas.begin());
  arenas.push_back({dtype, {0}});
  return arenas.size() - 1;
}

}  // namespace

StepLayout lay_out(std::span<const Tensor> tensors, std::span<const Bucket> buckets,
                   Staging staging) {
  StepLayout layout;
  for (const Tensor& t : tensors) {
    const std::size_t arena = arena_for(layout.arenas, t.dtype);
    layout.arena_of.push_back(arena);
    layout.offset_of.push_back(layout.arenas[arena].count);
    layout.arenas[arena].count += t.count;
  }
  for (const Bucket& bucket : buckets) {
    const Piece& first = bucket.pieces.front();
    if (staging == Staging::own_buffers) {
      layout.places.push_back({layout.buffers.size(), {0}});
      layout.buffers.push_back(bucket.bytes());
    } else if (bucket.pieces.size() == 1) {
      layout.places.push_back(
          {std::nullopt, layout.offset_of[static_cast<std::size_t>(first.tensor)] + first.offset});
    } else {
      layout.places.push_back({0, {0}});
      if (layout.buffers.empty()) layout.buffers.push_back({0});
      layout.buffers[0] = std::max(layout.buffers[0], bucket.bytes());
    }
  }
  return layout;
}

Bytes StepLayout::gradient_bytes() const {
  Bytes sum{};
  for (const Arena& arena : arenas)
    sum += arena.count.value * Bytes{static_cast<std::int64_t>(size_of(arena.dtype))};
  return sum;
}

Bytes StepLayout::buffer_bytes() const {
  return std::accumulate(buffers.begin(), buffers.end(), Bytes{});
}

}  // namespace collmark
