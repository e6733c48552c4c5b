#include "collectives/schedule.hpp"

#include <gtest/gtest.h>

#include "collectives/catalogue.hpp"
#include "collectives/partition.hpp"

namespace collmark {
namespace {

TEST(Schedule, Ring_IsOneTrafficPatternForAllItsSteps) {
  const Schedule ring = build(Collective::all_reduce, "ring", 8);
  EXPECT_EQ(ring.steps, 14);
  EXPECT_EQ(ring.traffic, (std::vector<TrafficRun>{{.steps = 14, .reducing = 7}}));
}

TEST(Schedule, ReversedBroadcastIsWalkedBackwards) {
  const Schedule s = ring_reduce_scatter(3);
  const Schedule back = reversed(s);
  for (int t = 0; t < s.steps; ++t) {
    const auto forward = transfers(s, t);
    const auto backward = transfers(back, s.steps - 1 - t);
    ASSERT_EQ(forward.size(), backward.size());
    for (std::size_t i = 0; i < forward.size(); ++i) {
      EXPECT_EQ(forward[i].src, backward[i].dst);
      EXPECT_EQ(forward[i].dst, backward[i].src);
      EXPECT_EQ(backward[i].verb, Verb::copy);
    }
  }
}

/// One step: rank 1 to rank 0, `verb`, in a schedule of two ranks and `chunks` chunks.
Schedule one_way(Verb verb, int chunks = 1) {
  return {.ranks = 2, .chunks = chunks, .steps = 1, .step = [=](int, Emit emit) {
            emit({.src = 1, .dst = 0, .verb = verb});
          }};
}

TEST(Composition, Then_RunsTheSecondAfterTheFirst) {
  const Schedule s = then(one_way(Verb::reduce), reversed(one_way(Verb::reduce)));
  EXPECT_EQ(s.steps, 2);
  EXPECT_EQ(transfers(s, 0), (std::vector<Transfer>{Reduce{1, 0, 0}}));
  EXPECT_EQ(transfers(s, 1), (std::vector<Transfer>{Copy{0, 1, 0}}));
}

/// `steps` times the same, as one run of traffic.
Schedule run_of(Verb verb, int steps) {
  Schedule s = one_way(verb);
  s.steps = steps;
  s.traffic = same_every_step(steps, verb);
  return s;
}

TEST(Composition, Then_JoinsCopiesToTheRunBeforeThem_NeverReduces) {
  const Schedule adds = run_of(Verb::reduce, 3), copies = run_of(Verb::copy, 3);
  using Runs = std::vector<TrafficRun>;
  EXPECT_EQ(then(adds, copies).traffic, (Runs{{.steps = 6, .reducing = 3}}));
  EXPECT_EQ(then(one_way(Verb::reduce), copies).traffic, (Runs{{.steps = 4, .reducing = 1}}));
  EXPECT_EQ(then(copies, adds).traffic, (Runs{{.steps = 3}, {.steps = 3, .reducing = 3}}));
  EXPECT_EQ(then(adds, reversed(adds)).traffic, (Runs{{.steps = 3, .reducing = 3}, {.steps = 3}}));
}

TEST(Composition, Then_JoinsASingleStepToARun_NotTwoSingleSteps) {
  const Schedule adds = run_of(Verb::reduce, 2), copies = run_of(Verb::copy, 2);
  using Runs = std::vector<TrafficRun>;
  EXPECT_EQ(then(adds, one_way(Verb::copy)).traffic, (Runs{{.steps = 3, .reducing = 2}}));
  EXPECT_EQ(then(one_way(Verb::copy), copies).traffic, (Runs{{.steps = 3}}));
  EXPECT_EQ(then(one_way(Verb::reduce), one_way(Verb::copy)).traffic, (Runs{{1}, {1}}));
}

TEST(Composition, Then_ComparesTheStepsThatMeet) {
  const auto turns_at = [](int turn, int steps, std::vector<TrafficRun> traffic) {
    return Schedule{.ranks = 2,
                    .chunks = 1,
                    .steps = steps,
                    .step =
                        [=](int step, Emit emit) {
                          step == turn ? emit(Copy{1, 0, 0}) : emit(Copy{0, 1, 0});
                        },
                    .traffic = std::move(traffic)};
  };
  using Runs = std::vector<TrafficRun>;
  EXPECT_EQ(then(turns_at(2, 3, {{2}, {1}}), turns_at(0, 3, {{1}, {2}})).traffic,
            (Runs{{2}, {1}, {1}, {2}}));
  EXPECT_EQ(then(turns_at(-1, 2, {{2}}), turns_at(1, 2, {{1}, {1}})).traffic, (Runs{{3}, {1}}));
  EXPECT_EQ(then(turns_at(1, 2, {{1}, {1}}), turns_at(-1, 2, {{2}})).traffic,
            (Runs{{1}, {1}, {2}}));
}

TEST(Composition, Then_OfDifferentShapes_IsRefusedWithTheNumbers) {
  try {
    (void)then(one_way(Verb::copy, 2), one_way(Verb::copy, 3));
    FAIL() << "composed 2 chunks with 3";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "cannot compose: chunks 2 and 3");
  }
}

TEST(Composition, Beside_GivesTheSecondItsOwnChunks) {
  const Schedule s = beside(one_way(Verb::reduce, 3), one_way(Verb::copy, 2));
  EXPECT_EQ(s.chunks, 5);
  EXPECT_EQ(transfers(s, 0), (std::vector<Transfer>{Reduce{1, 0, 0}, Copy{1, 0, 3}}));
}

TEST(Composition, Beside_ALongerOne_WalksOnAlone) {
  const Schedule longer = then(one_way(Verb::reduce), one_way(Verb::copy));
  EXPECT_EQ(transfers(beside(longer, one_way(Verb::copy)), 1).size(), 1U);
  EXPECT_EQ(transfers(beside(one_way(Verb::copy), longer), 1),
            (std::vector<Transfer>{Copy{1, 0, 1}}));
}

TEST(Composition, Reversed_NeedsNoTransferWhereAValueStays) {
  const Schedule own{.ranks = 2, .chunks = 2, .steps = 1, .step = [](int, Emit emit) {
                       emit(Reduce{0, 0, 0});
                       emit(Move{0, 0, 0, 1});
                     }};
  EXPECT_EQ(transfers(reversed(own), 0), (std::vector<Transfer>{Move{0, 0, 1, 0}}));
}

TEST(Composition, Renumbered_RenamesBothEnds) {
  const Schedule s = renumbered(one_way(Verb::copy), 10, [](int rank) { return 3 + 4 * rank; });
  EXPECT_EQ(s.ranks, 10);
  EXPECT_EQ(transfers(s, 0), (std::vector<Transfer>{Copy{7, 3, 0}}));
}

TEST(Composition, Folded_HandsOverAndBackAllChunks) {
  const Schedule s = folded(one_way(Verb::reduce, 2), 3);
  EXPECT_EQ(s.ranks, 3);
  EXPECT_EQ(transfers(s, 0), (std::vector<Transfer>{Reduce{2, 0, 0, 2}}));
  EXPECT_EQ(transfers(s, 1), (std::vector<Transfer>{Reduce{1, 0, 0}}));
  EXPECT_EQ(transfers(s, 2), (std::vector<Transfer>{Copy{0, 2, 0, 2}}));
}

TEST(Logarithms, AreExactAroundPowersOfTwo) {
  EXPECT_EQ(floor_log2(1), 0);
  EXPECT_EQ(ceil_log2(1), 0);
  for (int l = 1; l < 30; ++l) {
    const int n = 1 << l;
    EXPECT_EQ(floor_log2(n - 1), l - 1);
    EXPECT_EQ(floor_log2(n), l);
    EXPECT_EQ(ceil_log2(n), l);
    EXPECT_EQ(ceil_log2(n + 1), l + 1);
  }
}

TEST(Partition, AllToAllBlocks_AreEqualAndLieInBothBuffers) {
  const Schedule s{.ranks = 3, .chunks = 6, .collective = Collective::all_to_all};
  const Partition part(s, Elements{11});
  for (int c = 0; c < 6; ++c) {
    EXPECT_EQ(part.chunk(c).size, Elements{3});
    EXPECT_EQ(part.chunk(c).offset, Elements{3 * (c % 3)});
  }
}

TEST(Partition, ChunksCoverEveryElementOnceInOrder) {
  for (const std::int64_t count : {0, 1, 6, 7, 8, 1003}) {
    const Schedule s{.ranks = 7, .chunks = 7};
    const Partition part(s, Elements{count});
    Elements next{0};
    for (int c = 0; c < 7; ++c) {
      EXPECT_EQ(part.chunk(c).offset, next);
      next += part.chunk(c).size;
    }
    EXPECT_EQ(next, Elements{count});
  }
}

TEST(Catalogue, UnknownName_SuggestsTheNearest) {
  try {
    (void)build(Collective::all_reduce, "rnig", 4);
    FAIL() << "accepted an unknown algorithm";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(e.what()).find("did you mean 'ring'?"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace collmark
