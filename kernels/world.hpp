/// The memory behind a job: what every rank needs besides its buffers, laid out in one piece per rank, and everybody's
/// view of it. Where the pieces lie is the caller's business: host memory, a GPU's, a peer's as it is mapped here.
///
///   piece of a rank   flags of meetings | flags of progress | its own counts
///                     of each incoming link tail and slots, of each outgoing one head
///                     inboxes | staging | scratch | spare
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/job.hpp"
#include "kernels/tables.hpp"

namespace collmark {

struct WorldShape {
  int ranks = 1;
  int channels = 1;
  int slots = 4;
  std::int64_t slot_elements = 1;
  std::size_t element = 4;                          // [bytes]
  Protocol protocol = Protocol::simple;             // of what goes over links or to inboxes
  std::vector<SrcDst> links = {};                   // who sends to whom
  std::int64_t inbox_lines = 0;                     // for each channel and sender
  std::size_t staging = 0, scratch = 0, spare = 0;  // [bytes] of each rank
};

/// Bytes of a slot, a multiple of 16: 16 more than the elements, so that data may lie at any offset in a pack; with low
/// latency as many lines as they fill.
[[nodiscard]] std::size_t slot_bytes(const WorldShape& shape);

/// Of one rank's piece. A multiple of 128.
[[nodiscard]] std::size_t piece_bytes(const WorldShape& shape);

/// Whatever all ranks of a job have, as one of them (or one GPU that runs several) reaches it.
struct Reach {
  std::vector<std::byte*> pieces;           // [rank], aligned to 128 bytes
  std::vector<std::byte*> inputs, outputs;  // [rank]
};

class World {
 public:
  /// The pieces are filled with zeros before the first launch, and again after one that gave up.
  ///   Throws   Error{usage} for a shape that makes no sense.
  World(WorldShape shape, Reach reach);

  /// Everything but the trees and the program, which not every kernel has.
  [[nodiscard]] RankView view(int rank, Tables& tables) const;

  [[nodiscard]] std::byte* scratch(int rank) const;
  [[nodiscard]] std::byte* spare(int rank) const;

 private:
  [[nodiscard]] std::vector<LinkEnd> incoming(int rank) const;
  [[nodiscard]] std::vector<LinkEnd> outgoing(int rank) const;
  [[nodiscard]] LinkEnd link(SrcDst ends, int channel) const;

  WorldShape shape_;
  Reach reach_;
};

}  // namespace collmark
