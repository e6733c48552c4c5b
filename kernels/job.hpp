/// What a kernel is told: plain data, the same for all ranks of a launch, readable where the kernel runs.
///
///   block b of the grid      rank  = rank_base + b / channels      one launch may hold all ranks (virtual ranks on
///                            channel = b % channels                one GPU) or one of them (a GPU each)
///
/// A channel carries its own share of every chunk and never waits for another channel, except those of a tree, which
/// work in twos (tree.hpp), and those of direct_all_reduce, which share what all ranks of a launch own (direct.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/flag.hpp"
#include "kernels/pass.hpp"

namespace collmark {

/// One end of one direction between two ranks on one channel. Slots are filled and freed in turn; counters only grow.
///
///   sender ── data ──> slots ──> receiver        tail   slots filled: written by the sender, lies at the receiver
///     head <──── credits ───────────┘            head   slots freed: written by the receiver, lies at the sender
///
/// With low latency a slot holds lines (line.hpp), whose flag is what the tail would be, and there is no tail.
enum class Protocol { simple, low_latency };
struct LinkEnd {
  std::uint32_t* tail = nullptr;
  std::uint32_t* head = nullptr;
  std::byte* slots = nullptr;       // at the receiver
  std::uint32_t* passed = nullptr;  // this end's own count, kept from launch to launch
};

/// A rank's place in a tree. The same rank may stand elsewhere in the next tree.
struct TreePlace {
  int parent = -1;                // of the root
  int depth = 0, height = 0;      // of the rank, of the whole tree
  const int* children = nullptr;  // in the order in which their values are added
  int child_count = 0;
};

/// Words from one flag to the next: GPUs fetch 128 bytes at once, and two flags on one such line would travel together.
inline constexpr int kFlagStride = 32;
/// Of low_latency.hpp: two rounds, two parities.
inline constexpr std::size_t kInboxes = 4;

/// The actions of a rank's plan (collectives/plan.hpp), its addresses worked out.
struct Instruction {
  int step = 0;           // of the schedule
  int first_address = 0;  // of the program's: sources, then destinations
  int sources = 0;        // 0: nothing moves, it only signals
  int destinations = 0;
  int first_wait = 0, waits = 0;
  int first_edge = 0, edges = 0;
  std::int64_t count = 0;  // elements of the chunk
  bool announced = false;  // some peer waits for it
};
/// Until `peer` has done so many of its instructions; 0: has begun.
struct PeerActions {
  int peer = 0, actions = 0;
};
struct SrcDst {
  int src = 0, dst = 0;
};
struct Program {
  const Instruction* instructions = nullptr;
  int size = 0;
  int most = 0;  // instructions of any rank
  std::byte* const* addresses = nullptr;
  const PeerActions* waits = nullptr;
  int first_leave = 0, leaves = 0;  // of the waits: before the end
  const SrcDst* edges = nullptr;
  std::byte* const* owed = nullptr;           // chunks to divide at the end, for avg ...
  const std::int64_t* owed_counts = nullptr;  // ... and their elements
  int owed_size = 0;
  std::int64_t longest = 0;  // elements of a chunk
  std::int64_t tile = 1;  // elements of a chunk that go through all instructions before the next do
};

/// The memory of all ranks, as one of them reaches it.
struct RankView {
  std::byte* const* inputs = nullptr;       // [rank]
  std::byte* const* outputs = nullptr;      // [rank]
  std::byte* const* staging = nullptr;      // [rank], as long as an input; for one_shot in place
  std::uint32_t* const* arrived = nullptr;  // [rank] -> there: [channel x ranks + who arrived]
  std::uint32_t* meetings = nullptr;        // [channel], so far: this rank's own count
  const LinkEnd* from = nullptr;     // [peer x channels + channel]; only where the algorithm sends
  const LinkEnd* to = nullptr;       // [peer x channels + channel]
  const TreePlace* trees = nullptr;  // [tree]
  std::uint64_t* const* inboxes = nullptr;  // [rank] -> there: see low_latency.hpp
  std::uint32_t* epochs = nullptr;          // [channel]: launches so far that used the inboxes
  Program program;
  std::uint32_t* const* progress =
      nullptr;                     // [rank] -> there: [channel x kFlagStride], instructions done
  std::uint32_t* begun = nullptr;  // [channel]: where this rank's next launch begins to count
};

struct Job {
  const RankView* views = nullptr;  // [rank - rank_base]
  int ranks = 1;
  int rank_base = 0;
  int held = 1;  // ranks of this launch
  int channels = 1;
  int chunks = 1;   // of the schedule
  int servers = 0;  // ranks [0, servers) contribute nothing and are owed nothing
  int trees = 1;    // that share the chunks: the first chunks / trees of them belong to the first
  std::int64_t count = 0;  // elements of a buffer
  bool in_place = false;
  Reduction what;
  int slots = 4;  // of a link: a power of two, or the wrap of the counters would name one twice
  std::int64_t slot_elements = 0;
  std::size_t slot_bytes = 0;  // a multiple of 16, with room for the elements as they lie in a slot
  std::int64_t inbox_lines = 0;  // for each channel and sender
  std::uint32_t* given_up = nullptr;
  Stuck* stuck = nullptr;                    // [block of the launch]
  std::int64_t longest_wait = kLongestWait;  // [ns] for a flag, before a rank gives up
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

/// What lies in both; of no elements if nothing does.
COLLMARK_DEVICE Part common(Part a, Part b) {
  const std::int64_t begin = a.offset > b.offset ? a.offset : b.offset;
  const std::int64_t a_end = a.offset + a.count, b_end = b.offset + b.count;
  const std::int64_t end = a_end < b_end ? a_end : b_end;
  return {begin, end > begin ? end - begin : 0};
}

/// As Partition: the first (count mod chunks) chunks are one element longer.
COLLMARK_DEVICE Part chunk_of(std::int64_t count, int chunks, int c) {
  const std::int64_t base = count / chunks, longer = count % chunks;
  return {base * c + (c < longer ? c : longer), base + (c < longer ? 1 : 0)};
}

/// The chunks of one tree, which follow each other.
COLLMARK_DEVICE Part chunks_of_tree(const Job& job, int tree) {
  const int each = job.chunks / job.trees;
  const Part first = chunk_of(job.count, job.chunks, tree * each);
  const Part last = chunk_of(job.count, job.chunks, tree * each + each - 1);
  return {first.offset, last.offset + last.count - first.offset};
}

/// Which slot-sized piece of a part; empty beyond its end.
COLLMARK_DEVICE Part piece_of(Part part, std::int64_t size, std::int64_t index) {
  const std::int64_t begin = index * size;
  const std::int64_t left = part.count > begin ? part.count - begin : 0;
  return {part.offset + begin, left < size ? left : size};
}

}  // namespace collmark
