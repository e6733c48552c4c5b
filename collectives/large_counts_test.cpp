// More elements than an int counts, without the memory: addresses are worked out and never followed.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "collectives/catalogue.hpp"
#include "collectives/index.hpp"
#include "collectives/message_layout.hpp"
#include "collectives/test_data.hpp"
#include "collectives/threads.hpp"

namespace collmark {
namespace {

constexpr std::int64_t kLarge = (std::int64_t{1} << 31) + 1001;  // [elements], odd
constexpr std::uintptr_t kTerabyte = std::uintptr_t{1} << 40;

/// Never read: 16 TB of room from one to the next.
std::byte* far_away(int i) {
  return reinterpret_cast<std::byte*>(16 * kTerabyte * (static_cast<std::uintptr_t>(i) + 1));
}

/// Of a stream: every segment can be counted by an int, and together they are the whole.
void expect_whole(const Stream& stream) {
  std::size_t sum = 0;
  for (const std::vector<Extent>& segment : stream.segments) {
    std::size_t size = 0;
    for (const Extent& piece : segment) size += piece.size;
    EXPECT_LE(size, std::size_t{std::numeric_limits<int>::max()});
    sum += size;
  }
  EXPECT_EQ(sum, stream.size);
}

TEST(LargeCounts, MessagesAreCutIntoSegmentsThatAnIntCounts_AndAddUpToWhatTheScheduleLists) {
  int looked = 0;
  for (const Algorithm& a : catalogue()) {
    const Schedule s = build(a.collective, a.name, 2);
    if (a.collective == Collective::barrier) continue;
    for (const Dtype dtype : {Dtype::u8, Dtype::f64}) {
      const Payload payload{.count = {kLarge}, .dtype = dtype};
      const std::vector<Moved> listed = listed_moves(s, payload);
      for (int rank = 0; rank < 2; ++rank) {
        SCOPED_TRACE(std::string(name(a.collective)) + " " + std::string(a.name));
        const MessageProgram program = message_program(s, rank, Placement::out_of_place);
        if (program.uses_scratch || program.uses_spare) continue;  // memory that would be asked for
        ++looked;
        const MessageLayout layout(s, program, {payload, {far_away(0), far_away(1)}}, {});
        Moved moved;
        for (const ByteStep& step : layout.steps()) {
          for (const Stream& out : step.sends) {
            expect_whole(out);
            moved.sent.value += static_cast<std::int64_t>(out.size);
          }
          for (const Stream& in : step.receives) {
            expect_whole(in);
            moved.received.value += static_cast<std::int64_t>(in.size);
          }
        }
        EXPECT_EQ(moved.sent, listed[at(rank)].sent);
        EXPECT_EQ(moved.received, listed[at(rank)].received);
      }
    }
  }
  EXPECT_GT(looked, 60);
}

/// What was stored where; a pass is a plain function, so its notes are in one place.
struct Stored {
  std::uintptr_t begin;
  std::size_t count;  // [elements]
  friend auto operator<=>(const Stored&, const Stored&) = default;
};
std::mutex notes_lock;
std::vector<Stored> notes;

std::size_t noting(std::span<const std::byte* const> /*sources*/,
                   std::span<std::byte* const> destinations, std::size_t count, Stores /*stores*/) {
  const std::lock_guard hold(notes_lock);
  for (const std::byte* to : destinations)
    notes.push_back({reinterpret_cast<std::uintptr_t>(to), count});
  return count;
}

TEST(LargeCounts, TilesCoverEveryElementOfEveryOutputOnce) {
  constexpr std::size_t kElement = 8;  // [bytes] of f64
  notes.clear();
  ThreadTeam team(2);
  const std::vector<RankBuffers> buffers{{far_away(0), far_away(1)}, {far_away(2), far_away(3)}};
  ThreadsCollective collective(team, build(Collective::all_reduce, "ring", 2),
                               {.count = {kLarge}, .dtype = Dtype::f64}, buffers,
                               {.tile = {1 << 22}, .pass = noting});
  team.run([&](int rank) { collective.run(rank); });
  std::sort(notes.begin(), notes.end());
  auto next = notes.begin();
  for (const RankBuffers& b : buffers) {
    auto begin = reinterpret_cast<std::uintptr_t>(b.output);
    const std::uintptr_t end = begin + kElement * static_cast<std::size_t>(kLarge);
    for (; next != notes.end() && next->begin == begin; ++next) begin += next->count * kElement;
    EXPECT_EQ(begin, end);
  }
  EXPECT_EQ(next, notes.end());
  EXPECT_EQ(collective.moved(0).sent, Bytes{kLarge * 8});
}

TEST(LargeCounts, ChunksFollowEachOtherToTheEnd) {
  for (const int ranks : {1, 2, 3, 7, 64}) {
    const Partition part(build(Collective::all_reduce, "ring", ranks), {kLarge});
    std::int64_t next = 0;
    for (int c = 0; c < ranks; ++c) {
      EXPECT_EQ(part.chunk(c).offset.value, next);
      next += part.chunk(c).size.value;
    }
    EXPECT_EQ(next, kLarge);
  }
}

}  // namespace
}  // namespace collmark
