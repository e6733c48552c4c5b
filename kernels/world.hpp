/// The memory behind a job: what every rank needs besides its buffers, laid out in one piece per rank, and everybody's
/// view of it. Where the pieces lie is the caller's business: host memory, a GPU's, a peer's as it is mapped here.
///
///   piece of a rank   flags of meetings | its counts | head of its outgoing link | tail and slots of its incoming one | staging
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/job.hpp"

namespace collmark {

struct WorldShape {
  int ranks = 1;
  int channels = 1;
  int slots = 4;
  std::int64_t slot_elements = 0;
  std::size_t element = 4;  // [bytes]
  std::int64_t staged = 0;  // elements of a buffer, if one_shot runs in place
};

/// Bytes of a slot: a multiple of 16 and 16 more than the elements, so that data may lie at any offset in a pack.
[[nodiscard]] std::size_t slot_bytes(const WorldShape& shape);

/// Of one rank's piece. A multiple of 128.
[[nodiscard]] std::size_t piece_bytes(const WorldShape& shape);

/// The links of a ring and the flags of its meetings, as one rank sees them.
class World {
 public:
  /// `pieces` [rank]: where each rank's piece is reached, aligned to 128 bytes and filled with zeros before the
  /// first launch, and again after one that gave up.
  ///   Throws   Error{usage} for a shape that makes no sense.
  World(const WorldShape& shape, const std::vector<std::byte*>& pieces);

  /// `buffers` [rank]; they and this must outlive what is launched.
  [[nodiscard]] RankView view(int rank, const std::vector<std::byte*>& inputs,
                              const std::vector<std::byte*>& outputs) const;

 private:
  WorldShape shape_;
  std::vector<std::uint32_t*> arrived_;       // [rank]
  std::vector<std::uint32_t*> meetings_;      // [rank]
  std::vector<std::byte*> staging_;           // [rank]
  std::vector<std::vector<Link>> from_, to_;  // [rank][channel]
};

}  // namespace collmark
