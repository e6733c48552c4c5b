/// What a kernel is told: plain data, the same for all ranks of a launch, readable where the kernel runs.
///
///   block b of the grid      rank  = rank_base + b / channels      one launch may hold all ranks (virtual ranks on
///                            channel = b % channels                one GPU) or one of them (a GPU each)
///
/// A channel carries its own share of every chunk and never waits for another channel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/flag.hpp"
#include "kernels/pass.hpp"

namespace collmark {

/// One direction between two ranks on one channel. Slots are filled and freed in turn; both counters only grow.
///
///   sender ── data ──> slots ──> receiver        tail   slots filled: written by the sender, lies at the receiver
///     head <──── credits ───────────┘            head   slots freed: written by the receiver, lies at the sender
struct Link {
  std::uint32_t* tail = nullptr;
  std::uint32_t* head = nullptr;
  std::byte* slots = nullptr;       // at the receiver
  std::uint32_t* passed = nullptr;  // this end's own count, kept from launch to launch
  int peer = 0;
};

/// The memory of all ranks, as one of them reaches it.
struct RankView {
  std::byte* const* inputs = nullptr;       // [rank]
  std::byte* const* outputs = nullptr;      // [rank]
  std::byte* const* staging = nullptr;      // [rank], as long as an input; for one_shot in place
  std::uint32_t* const* arrived = nullptr;  // [rank] -> there: [channel x ranks + who arrived]
  std::uint32_t* meetings = nullptr;        // [channel], so far: this rank's own count
  const Link* from = nullptr;               // [channel], from the rank before, of the ring
  const Link* to = nullptr;                 // [channel], to the rank after
};

struct Job {
  const RankView* views = nullptr;  // [rank - rank_base]
  int ranks = 1;
  int rank_base = 0;
  int channels = 1;
  int chunks = 1;          // of the schedule
  int servers = 0;         // ranks [0, servers) contribute nothing and are owed nothing
  std::int64_t count = 0;  // elements of a buffer
  bool in_place = false;
  Reduction what;
  int slots = 4;  // of a link: a power of two, or the wrap of the counters would name one twice
  std::int64_t slot_elements = 0;
  std::size_t slot_bytes = 0;  // a multiple of 16, with room for 16 bytes more than the elements
  std::uint32_t* given_up = nullptr;
  Stuck* stuck = nullptr;          // [block of the launch]
  std::uint32_t looks = 1U << 30;  // at a flag, before a rank gives up
};

/// A run of elements of every buffer.
struct Part {
  std::int64_t offset = 0, count = 0;
};

/// The share of `channel` in `whole`, cut where packs begin if the whole begins at one.
COLLMARK_DEVICE Part share(Part whole, int channel, int channels, int pack) {
  const std::int64_t packs = (whole.count + pack - 1) / pack;
  const std::int64_t each = (packs + channels - 1) / channels * pack;
  const std::int64_t begin = each * channel < whole.count ? each * channel : whole.count;
  const std::int64_t end = begin + each < whole.count ? begin + each : whole.count;
  return {whole.offset + begin, end - begin};
}

/// As Partition: the first (count mod chunks) chunks are one element longer.
COLLMARK_DEVICE Part chunk_of(std::int64_t count, int chunks, int c) {
  const std::int64_t base = count / chunks, longer = count % chunks;
  return {base * c + (c < longer ? c : longer), base + (c < longer ? 1 : 0)};
}

}  // namespace collmark
