#include "collectives/messages.hpp"
#include "collectives/index.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"
#include "collectives/test_data.hpp"

namespace collmark {
namespace {

/// Every rank's program.
std::vector<MessageProgram> programs(const Schedule& s, Placement placement) {
  std::vector<MessageProgram> all;
  for (int r = 0; r < s.ranks; ++r) all.push_back(message_program(s, r, placement));
  return all;
}

/// Merges that combine nothing: copies within this rank's memory.
int moves(const MessageProgram& program) {
  int count = 0;
  for (const MessageStep& step : program.steps)
    for (const Merge& m : step.merges) count += m.operands.size() == 1 ? 1 : 0;
  return count;
}

template <class Visit>
void for_each_schedule(const Visit& visit) {
  int visited = 0;
  for (const Algorithm& a : catalogue()) {
    for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17}) {
      if (!is_supported(a, ranks)) continue;
      SCOPED_TRACE(fmt::format("{} {} N={}", name(a.collective), a.name, ranks));
      visit(build(a.collective, a.name, ranks));
      ++visited;
    }
  }
  EXPECT_GT(visited, 200);
}

/// What one end of a message says about it.
struct End {
  bool reduced;
  std::vector<std::pair<int, int>> chunks;  // at the sender, at the receiver
  friend bool operator==(const End&, const End&) = default;
};
using Ends = std::map<std::tuple<int, int, int>, End>;  // by step, sender, receiver

TEST(Messages, APairHasOneMessageInAStep_AndBothEndsAgreeOnIt) {
  for_each_schedule([](const Schedule& s) {
    Ends sent, received;
    for (int r = 0; r < s.ranks; ++r) {
      for (const MessageStep& step : message_program(s, r, Placement::in_place).steps) {
        for (const RankMessage& m : step.sends) {
          End end{m.reduced, {}};
          for (const Parcel& p : m.parcels) end.chunks.emplace_back(p.slot.chunk, p.peer_chunk);
          EXPECT_TRUE(sent.emplace(std::tuple(step.step, r, m.peer), end).second);
        }
        for (const RankMessage& m : step.receives) {
          End end{m.reduced, {}};
          for (const Parcel& p : m.parcels) end.chunks.emplace_back(p.peer_chunk, p.slot.chunk);
          EXPECT_TRUE(received.emplace(std::tuple(step.step, m.peer, r), end).second);
        }
      }
    }
    EXPECT_TRUE(sent == received);
  });
}

TEST(Messages, NothingIsCopiedWithinARank_ButWhatIsOwedAndNeverTravels) {
  for_each_schedule([](const Schedule& s) {
    if (s.collective == Collective::all_to_all) return;
    for (const MessageProgram& program : programs(s, Placement::in_place))
      EXPECT_EQ(moves(program), 0);
    for (int r = 0; r < s.ranks; ++r) {
      int untouched = 0;  // owed, held from the start, never written
      for (int c = 0; c < s.chunks && s.collective != Collective::barrier; ++c) {
        bool written = false;
        for (int t = 0; t < s.steps; ++t)
          s.step(t, [&](const Transfer& x) {
            written |= x.dst == r && x.dst_chunk <= c && c < x.dst_chunk + x.count;
          });
        if (!written && held_before(s, r, c) && owed_after(s, r, c).what != Owed::What::nothing)
          ++untouched;
      }
      EXPECT_EQ(moves(message_program(s, r, Placement::out_of_place)), untouched) << "rank " << r;
    }
  });
}

TEST(Messages, AnExchangeInPlaceStaysBehindItsOwnSend) {
  const MessageProgram program = message_program(
      build(Collective::all_reduce, "recursive_doubling", 2), 0, Placement::in_place);
  EXPECT_FALSE(program.uses_scratch);
  ASSERT_EQ(program.steps.size(), 1U);
  const MessageStep& step = program.steps.front();
  ASSERT_EQ(step.merges.size(), 1U);
  ASSERT_EQ(step.merges[0].behind.size(), 1U);
  EXPECT_EQ(step.sends[0].parcels[0].merge, 0);
  EXPECT_EQ(step.sends[0].parcels[0].slot, step.merges[0].to);
}

TEST(Messages, RepeatedExchangesAlternateBetweenTwoPlaces) {
  const MessageProgram program = message_program(
      build(Collective::all_reduce, "recursive_doubling", 4), 0, Placement::in_place);
  EXPECT_TRUE(program.uses_scratch);
  ASSERT_EQ(program.steps.size(), 2U);
  for (const MessageStep& step : program.steps) EXPECT_TRUE(step.merges[0].behind.empty());
  EXPECT_EQ(program.steps[0].merges[0].to.place, Place::scratch);
  EXPECT_EQ(program.steps[1].merges[0].to.place, Place::output);
  EXPECT_EQ(program.steps[1].sends_before, 1);  // the output was sent in the first step
}

TEST(Messages, ARingInPlaceWritesAChunkOnlyWhenItHasLeft) {
  constexpr int kRanks = 4;
  const MessageProgram program =
      message_program(build(Collective::all_reduce, "ring", kRanks), 1, Placement::in_place);
  ASSERT_EQ(program.steps.size(), 6U);
  // A chunk comes back finished as many steps after it was sent as there are others.
  const std::vector<int> expected{0, 0, 0, 1, 2, 3};
  for (std::size_t t = 0; t < expected.size(); ++t)
    EXPECT_EQ(program.steps[t].sends_before, expected[t]) << "step " << t;
  EXPECT_FALSE(program.uses_scratch);
}

TEST(Messages, AllToAllInPlaceSavesItsBlocksFirst) {
  const MessageProgram program =
      message_program(build(Collective::all_to_all, "pairwise", 3), 0, Placement::in_place);
  ASSERT_EQ(program.steps.size(), 3U);
  EXPECT_TRUE(program.steps[0].sends.empty());
  EXPECT_EQ(program.steps[0].merges.size(), 3U);
  for (const Merge& m : program.steps[0].merges) EXPECT_EQ(m.to.place, Place::scratch);
}

TEST(Messages, AProgramHoldsNothingOfTheOthers) {
  const int ranks = 64;
  std::size_t parcels = 0;
  const MessageProgram program =
      message_program(build(Collective::all_reduce, "ring", ranks), 5, Placement::out_of_place);
  for (const MessageStep& step : program.steps)
    for (const auto* list : {&step.sends, &step.receives})
      for (const RankMessage& m : *list) parcels += m.parcels.size();
  EXPECT_EQ(parcels, at(4 * (ranks - 1)));
}

TEST(Messages, RefusesTransfersOutsideOfTheSchedule_EvenOfOtherRanks) {
  const Schedule wrong{.ranks = 3, .chunks = 1, .steps = 1, .step = [](int, Emit emit) {
                         emit(Copy{1, 2, 1});
                       }};
  EXPECT_THROW((void)message_program(wrong, 0, Placement::in_place), Error);
}

}  // namespace
}  // namespace collmark
