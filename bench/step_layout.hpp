/// Where one rank's gradients and buckets lie in memory during a step.
///
///   gradients   conv1 | bn1 | ... | fc.weight | fc.bias       one arena per dtype
///                  |     |              |         |
///                  pack: copied in plan order               unpack: copied back
///                  v     v              v         v
///   buckets     [fc.bias fc.weight] [... bn1 conv1]           own_buffers: all of them at once
///                                                             fusion_buffer: one at a time
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "collectives/bucket.hpp"

namespace collmark {

struct StepLayout {
  struct Arena {
    Dtype dtype;
    Elements count;
  };
  struct Place {
    std::optional<std::size_t> buffer;  // index into `buffers`; empty = in the arena, not copied
    Elements offset;                    // in the arena; 0 in a buffer
  };

  std::vector<Arena> arenas;          // in the order in which their dtypes first come
  std::vector<std::size_t> arena_of;  // per tensor
  std::vector<Elements> offset_of;    // per tensor, in its arena
  std::vector<Place> places;          // per bucket
  std::vector<Bytes> buffers;         // beyond the gradients: what a plan costs in memory

  [[nodiscard]] Bytes gradient_bytes() const;  // per rank
  [[nodiscard]] Bytes buffer_bytes() const;    // per rank
};

[[nodiscard]] StepLayout lay_out(std::span<const Tensor> tensors, std::span<const Bucket> buckets,
                                 Staging staging);

}  // namespace collmark
