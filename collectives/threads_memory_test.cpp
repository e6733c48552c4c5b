// What the threads executor does with memory: tiles, stores past the caches, scratch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <random>

#include "collectives/catalogue.hpp"
#include "collectives/index.hpp"
#include "collectives/partition.hpp"
#include "collectives/promise.hpp"
#include "collectives/random_schedule.hpp"
#include "collectives/threads.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

/// Small ones: sums of any depth stay finite, so that no NaN with bits of its own appears.
std::vector<ByteBuffer> random_floats(std::mt19937& random, int ranks, std::size_t count) {
  std::uniform_real_distribution<float> some(-1.0F, 1.0F);
  std::vector<ByteBuffer> buffers;
  for (int r = 0; r < ranks; ++r) {
    std::vector<float> values(count);
    for (float& v : values) v = some(random);
    buffers.emplace_back(count * 4);
    if (count > 0) std::memcpy(buffers.back().data(), values.data(), count * 4);
  }
  return buffers;
}

/// Runs it once; outputs and, on the way, what each rank moved.
struct Ran {
  std::vector<ByteBuffer> outputs;
  std::vector<Moved> moved;
};

Ran run_once(const Schedule& s, std::vector<ByteBuffer> inputs, Placement placement,
             const PlanOptions& options) {
  Ran ran{.outputs = inputs, .moved = {}};
  std::vector<RankBuffers> buffers;
  for (std::size_t r = 0; r < inputs.size(); ++r) {
    std::byte* output = ran.outputs[r].data();
    buffers.push_back({placement == Placement::in_place ? output : inputs[r].data(), output});
  }
  ThreadTeam team(s.ranks);
  const auto count = static_cast<std::int64_t>(inputs[0].size() / 4);
  ThreadsCollective collective(team, s, {.count = {count}}, buffers, options);
  team.run([&](int rank) { collective.run(rank); });
  for (int r = 0; r < s.ranks; ++r) ran.moved.push_back(collective.moved(r));
  return ran;
}

/// Chunks that are owed, and that something was written to.
std::vector<std::pair<int, int>> results(const Schedule& s) {
  std::set<std::pair<int, int>> written;
  for (int r = 0; r < s.ranks; ++r)
    for (int c = 0; c < s.chunks; ++c)
      if (held_before(s, r, c)) written.insert({r, c});
  for (int t = 0; t < s.steps; ++t)
    for (const Transfer& x : transfers(s, t)) written.insert({x.dst, x.dst_chunk});
  std::vector<std::pair<int, int>> list;
  for (const auto& [rank, chunk] : written)
    if (owed_after(s, rank, chunk).what != Owed::What::nothing) list.emplace_back(rank, chunk);
  return list;
}

TEST(ThreadsCollective, RandomSchedules_EqualReferenceBitForBit) {
  constexpr int kCount = 36;  // chunks of one size: some transfers rename theirs
  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    for (const Collective collective : {Collective::all_reduce, Collective::all_to_all}) {
      const Schedule s = random_schedule(random, collective);
      const std::vector<ByteBuffer> inputs = random_floats(random, s.ranks, kCount);
      const std::vector<ByteBuffer> expected = reference(s, {.count = {kCount}}, inputs);
      const Partition part(s, {kCount});
      for (const Placement placement : {Placement::in_place, Placement::out_of_place}) {
        const Ran ran = run_once(s, inputs, placement, {.tile = {16}});
        for (const auto& [rank, chunk] : results(s)) {
          const auto first = static_cast<std::ptrdiff_t>(part.chunk(chunk).offset.value * 4);
          const auto size = static_cast<std::ptrdiff_t>(part.chunk(chunk).size.value * 4);
          const auto got = ran.outputs[at(rank)].begin() + first;
          ASSERT_TRUE(std::equal(got, got + size, expected[at(rank)].begin() + first))
              << "rank " << rank << " chunk " << chunk << " of " << listed(s);
        }
      }
    }
  }
}

/// What a pass was asked to do; a pass is a plain function, so its notes are in one place.
struct Asked {
  std::size_t count;
  Stores stores;
};
std::mutex notes_lock;
std::vector<Asked> notes;

std::size_t noting(std::span<const std::byte* const> sources,
                   std::span<std::byte* const> destinations, std::size_t count, Stores stores) {
  {
    const std::lock_guard hold(notes_lock);
    notes.push_back({count, stores});
  }
  return reduce_pass(Dtype::f32, ReduceOp::sum)(sources, destinations, count, stores);
}

std::vector<Asked> asked_of_two_shot(std::size_t count, Placement placement, PlanOptions options) {
  std::mt19937 random(5);
  options.pass = noting;
  notes.clear();
  (void)run_once(build(Collective::all_reduce, "two_shot", 2), random_floats(random, 2, count),
                 placement, options);
  return notes;
}

TEST(ThreadsCollective, TilesCutAChunk_TheLastOneIsWhatIsLeft) {
  const auto counts = [](std::size_t count, Bytes tile) {
    std::vector<std::size_t> list;
    for (const Asked& a : asked_of_two_shot(count, Placement::out_of_place, {.tile = tile}))
      list.push_back(a.count);
    std::sort(list.begin(), list.end());
    return list;
  };
  using List = std::vector<std::size_t>;  // of two ranks with a chunk each, smallest first
  EXPECT_EQ(counts(2 * 40, {64}), (List{8, 8, 16, 16, 16, 16}));
  EXPECT_EQ(counts(2 * 32, {64}), (List{16, 16, 16, 16}));
  EXPECT_EQ(counts(2 * 16, {67}), (List{16, 16})) << "whole elements only";
  EXPECT_EQ(counts(2 * 2, {1}), (List{1, 1, 1, 1})) << "at least one element";
}

bool all_are(const std::vector<Asked>& list, Stores stores) {
  return !list.empty() &&
         std::all_of(list.begin(), list.end(), [=](const Asked& a) { return a.stores == stores; });
}

TEST(ThreadsCollective, BuffersThatFillMoreThanHalfTheCache_AreStoredPastIt) {
  constexpr std::size_t kCount = 128;  // 2 ranks x (input and output) x 512 bytes
  const auto stores = [](Bytes above) {
    return asked_of_two_shot(kCount, Placement::out_of_place, {.streaming_above = above});
  };
  EXPECT_TRUE(all_are(stores({2 * 2048}), Stores::cached));
  EXPECT_TRUE(all_are(stores({2 * 2048 - 1}), Stores::streaming));
}

TEST(ThreadsCollective, InPlace_WhatWasJustReadIsStoredThroughTheCache) {
  EXPECT_TRUE(all_are(asked_of_two_shot(128, Placement::in_place, {.streaming_above = {1}}),
                      Stores::cached));
}

TEST(ThreadsCollective, InPlace_BuffersAreCountedOnce) {
  // broadcast: the receiver's buffer is written without having been read.
  const auto stores = [](Bytes above) {
    std::mt19937 random(6);
    notes.clear();
    (void)run_once(build(Collective::broadcast, "star", 2), random_floats(random, 2, 128),
                   Placement::in_place, {.streaming_above = above, .pass = noting});
    return notes;
  };
  EXPECT_TRUE(all_are(stores({2 * 1024}), Stores::cached));
  EXPECT_TRUE(all_are(stores({2 * 1024 - 1}), Stores::streaming));
}

TEST(ThreadsCollective, WithoutALimit_TheLastLevelCacheOfThisHostIsIt) {
  const auto cache = static_cast<std::size_t>(this_host().last_level_cache);
  if (cache == 0 || cache > std::size_t{1} << 29)
    GTEST_SKIP() << "the last-level cache is unknown, or too large to fill: " << cache << " bytes";
  const std::size_t half = cache / 2 / (4 * 4);  // [elements] of each of the four buffers
  EXPECT_TRUE(all_are(asked_of_two_shot(half + 1, Placement::out_of_place, {}), Stores::streaming));
  EXPECT_TRUE(all_are(asked_of_two_shot(half, Placement::out_of_place, {}), Stores::cached));
}

TEST(ThreadsCollective, ScratchIsOneBufferForEachRankThatNeedsOne) {
  const auto scratch = [](const Schedule& s, Placement placement) {
    std::vector<ByteBuffer> data(2 * at(s.ranks), ByteBuffer(400));
    std::vector<RankBuffers> buffers;
    for (std::size_t r = 0; r < at(s.ranks); ++r)
      buffers.push_back({.input = data[placement == Placement::in_place ? 2 * r : 2 * r + 1].data(),
                         .output = data[2 * r].data()});
    ThreadTeam team(s.ranks);
    return ThreadsCollective(team, s, {.count = {100}}, buffers).scratch();
  };
  const Schedule doubling = build(Collective::all_reduce, "recursive_doubling", 4);
  EXPECT_EQ(scratch(doubling, Placement::in_place), Bytes{4 * 400});
  EXPECT_EQ(scratch(build(Collective::all_reduce, "ring", 4), Placement::in_place), Bytes{0});
  EXPECT_EQ(scratch(build(Collective::all_to_all, "pairwise", 2), Placement::in_place),
            Bytes{2 * 2 * 400})
      << "all_to_all's chunks are input and output blocks";
  // Rank 0's output block 0 is replaced in the step that sends it on: its first value lies elsewhere.
  const Schedule replaced{.ranks = 2,
                          .chunks = 4,
                          .steps = 2,
                          .step =
                              [](int step, Emit emit) {
                                emit(Move{.src = 1, .dst = 0, .src_chunk = step, .dst_chunk = 2});
                                if (step == 1) emit(Copy{.src = 0, .dst = 1, .chunk = 2});
                              },
                          .collective = Collective::all_to_all};
  EXPECT_EQ(scratch(replaced, Placement::out_of_place), Bytes{2 * 400}) << "one spare buffer";
}

TEST(ThreadsCollective, NoElements_AreStillMessages) {
  const Ran ran = run_once(build(Collective::all_reduce, "ring", 3),
                           std::vector<ByteBuffer>(3, ByteBuffer()), Placement::in_place, {});
  for (const Moved& m : ran.moved) {
    EXPECT_EQ(m.messages, 4);
    EXPECT_EQ(m.sent, Bytes{0});
  }
}

}  // namespace
}  // namespace collmark
