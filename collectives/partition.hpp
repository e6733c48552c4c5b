/// Which elements of a buffer a chunk means. Any count is legal: not divisible, 0, 1, fewer than
/// chunks.
#pragma once

#include <algorithm>

#include "collectives/schedule.hpp"
#include "collectives/units.hpp"

namespace collmark {

struct Span {
  Elements offset;
  Elements size;
};

/// `count` elements in balanced chunks: the first (count mod chunks) of them are one element
/// longer.
///
/// all_to_all has two halves: chunks [0, p) are the blocks of the input buffer, [p, 2p) those of
/// the output buffer, and all blocks are equally long, floor(count / p); a remainder is left alone.
class Partition {
 public:
  Partition(const Schedule& s, Elements count)
      : equal_(s.collective == Collective::all_to_all),
        chunks_(equal_ ? s.ranks : s.chunks),
        count_(count) {}

  [[nodiscard]] Span chunk(int c) const {
    const std::int64_t i = equal_ ? c % chunks_ : c;
    const std::int64_t base = count_.value / chunks_;
    const std::int64_t longer = equal_ ? 0 : count_.value % chunks_;
    return {.offset = {base * i + std::min<std::int64_t>(i, longer)},
            .size = {base + (i < longer ? 1 : 0)}};
  }
  [[nodiscard]] Elements largest() const { return chunk(0).size; }
  [[nodiscard]] Elements count() const { return count_; }

 private:
  bool equal_;
  int chunks_;
  Elements count_;
};

}  // namespace collmark
