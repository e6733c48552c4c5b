#include "bench/step_work.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/partition.hpp"

namespace collmark {
namespace {

/// Of a wrong element: "tensor fc.bias, element 3, bucket 0".
std::string place_of(const StepWork& work, const WrongElement& wrong) {
  Elements index{wrong.index};
  std::size_t arena = 0;
  while (index >= work.layout.arenas[arena].count) index -= work.layout.arenas[arena++].count;
  for (std::size_t b = 0; b < work.buckets.size(); ++b) {
    for (const Piece& piece : work.buckets[b].pieces) {
      const auto tensor = static_cast<std::size_t>(piece.tensor);
      const Elements begin = work.layout.offset_of[tensor] + piece.offset;
      if (work.layout.arena_of[tensor] == arena && index >= begin && index < begin + piece.count)
        return fmt::format("tensor {}, element {}, bucket {}", work.tensors[tensor].name,
                           (index - work.layout.offset_of[tensor]).value, b);
    }
  }
  return fmt::format("gradient element {}, in no bucket", wrong.index);
}

}  // namespace

std::size_t StepWork::largest_bucket() const {
  const auto largest =
      std::max_element(buckets.begin(), buckets.end(),
                       [](const Bucket& a, const Bucket& b) { return a.bytes() < b.bytes(); });
  return static_cast<std::size_t>(largest - buckets.begin());
}

ArenaPayload payload_of(const StepWork& work, const StepLayout::Arena& arena) {
  const bool before = work.mean == Mean::before_sum;
  return {.payload = {arena.count, arena.dtype, before ? ReduceOp::sum : ReduceOp::avg},
          .times = before ? work.divisor() : 1};
}

Bytes largest_chunk(const StepWork& work) {
  Bytes largest{};
  for (const Bucket& bucket : work.buckets) {
    const Elements chunk = Partition(work.schedule, bucket.count).largest();
    largest =
        std::max(largest, Bytes{chunk.value * static_cast<std::int64_t>(size_of(bucket.dtype))});
  }
  return largest;
}

Elements elements_before(const StepWork& work, std::size_t arena) {
  Elements count{};
  for (std::size_t a = 0; a < arena; ++a) count += work.layout.arenas[a].count;
  return count;
}

std::string describe(const StepWork& work, const Check& check) {
  const WrongElement& e = check.first;
  return fmt::format("wrong result: rank {}, {}: got {}, expected {} ({} wrong in all)", e.rank,
                     place_of(work, e), e.got, e.expected, check.wrong);
}

}  // namespace collmark
