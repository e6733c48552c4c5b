#include "collectives/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

using testing::HasSubstr;

/// A schedule from a table: one list of transfers per step.
Schedule listed(Schedule shape, std::vector<std::vector<Transfer>> steps) {
  shape.steps = static_cast<int>(steps.size());
  shape.step = [steps = std::move(steps)](int t, Emit emit) {
    for (const Transfer& x : steps[static_cast<std::size_t>(t)]) emit(x);
  };
  return shape;
}

std::string first_fault(const Schedule& s) {
  const Verdict v = verify(s);
  return v.ok() ? "none" : to_string(v.wrong.front());
}

std::string only_lint(const Schedule& s) {
  const Verdict v = verify(s);
  return v.lints.size() == 1 ? to_string(v.lints.front())
                             : std::to_string(v.lints.size()) + " lints";
}

const Schedule kTwo{.ranks = 2};
const Schedule kThree{.ranks = 3};

TEST(Verify, LostContribution_IsNamedByRank) {
  EXPECT_EQ(first_fault(listed(kThree, {{Reduce{1, 0, 0}}, {Copy{0, 1, 0}, Copy{0, 2, 0}}})),
            "at the end, rank 0, chunk 0: lacks the contribution of rank 2");
}

TEST(Verify, DoubledContribution_IsReportedWhereItWasAdded) {
  EXPECT_EQ(first_fault(listed(kTwo, {{Reduce{1, 0, 0}}, {Reduce{1, 0, 0}}, {Copy{0, 1, 0}}})),
            "step 1, rank 0, chunk 0: holds the contribution of rank 1 twice");
}

TEST(Verify, DoubledContributionThatTravelsOn_IsReportedWhereItWasAdded) {
  const Schedule s{.ranks = 3, .collective = Collective::reduce};
  EXPECT_EQ(first_fault(listed(s, {{Reduce{2, 1, 0}}, {Reduce{2, 1, 0}}, {Reduce{1, 0, 0}}})),
            "step 1, rank 1, chunk 0: holds the contribution of rank 2 twice");
}

TEST(Verify, LocalReduceOfAnotherChunk_AddsToTheOwnValue) {
  // The server keeps the second worker's chunk beside the first one's before it adds them.
  Schedule served{.ranks = 3, .chunks = 2, .servers = 1};
  std::vector<std::vector<Transfer>> steps;
  for (const int chunk : {0, 1}) {
    const int beside = 1 - chunk;
    steps.push_back({Copy{1, 0, chunk}, Move{2, 0, chunk, beside}});
    steps.push_back({Transfer{0, 0, beside, chunk, Verb::reduce}});
    steps.push_back({Copy{0, 1, chunk}, Copy{0, 2, chunk}});
  }
  EXPECT_EQ(first_fault(listed(served, steps)), "none");
}

TEST(Verify, DoubledContributionThatIsOverwritten_IsNoFault) {
  EXPECT_EQ(first_fault(listed(
                kTwo, {{Reduce{1, 0, 0}, Reduce{0, 1, 0}}, {Reduce{0, 1, 0}}, {Copy{0, 1, 0}}})),
            "none");
}

TEST(Verify, ForeignChunk_IsReportedWhereItCameIn) {
  const Schedule two_chunks{.ranks = 2, .chunks = 2};
  EXPECT_EQ(first_fault(listed(two_chunks, {{Transfer{1, 0, 1, 0, Verb::reduce}}})),
            "step 0, rank 0, chunk 0: holds the contribution of rank 1 to chunk 1, which is not "
            "owed here");
}

TEST(Verify, ServerThatAddsToItsOwnValue_HoldsWhatIsNoInput) {
  const Schedule served{.ranks = 3, .servers = 1};
  EXPECT_EQ(first_fault(listed(
                served, {{Reduce{1, 0, 0}, Reduce{2, 0, 0}}, {Copy{0, 1, 0}, Copy{0, 2, 0}}})),
            "step 0, rank 0, chunk 0: holds what rank 0 had in chunk 0, which is no input");
}

TEST(Verify, CopyThatOpensAStep_IsAddedTo) {
  const Schedule served{.ranks = 3, .servers = 1};
  const Schedule good =
      listed(served, {{Copy{1, 0, 0}, Reduce{2, 0, 0}}, {Copy{0, 1, 0}, Copy{0, 2, 0}}});
  EXPECT_EQ(first_fault(good), "none");
  EXPECT_TRUE(verify(good).lints.empty());
}

TEST(Verify, StepReadsTheStateBeforeIt) {
  EXPECT_EQ(first_fault(listed(kTwo, {{Reduce{1, 0, 0}, Reduce{0, 1, 0}}})), "none");
  EXPECT_EQ(first_fault(listed(kTwo, {{Reduce{1, 0, 0}, Copy{0, 1, 0}}})),
            "at the end, rank 1, chunk 0: lacks the contribution of rank 1");
}

TEST(Verify, OwnValueNamedTwice_CountsTwice) {
  EXPECT_EQ(first_fault(listed(
                kTwo, {{Reduce{0, 0, 0}, Reduce{0, 0, 0}, Reduce{1, 0, 0}}, {Copy{0, 1, 0}}})),
            "step 0, rank 0, chunk 0: holds the contribution of rank 0 twice");
}

TEST(Verify, BarrierWithoutTheLastRound_SaysWhoWasNotHeard) {
  Schedule s = build(Collective::barrier, "dissemination", 4);
  s.steps = 1;
  EXPECT_EQ(first_fault(s), "at the end, rank 0, chunk 0: lacks the contribution of rank 1");
}

TEST(Verify, ReduceInABroadcast_IsRefused) {
  const Schedule s{.ranks = 2, .collective = Collective::broadcast};
  EXPECT_EQ(first_fault(listed(s, {{Reduce{0, 1, 0}}})),
            "step 0, rank 1, chunk 0: adds values up, which broadcast does not");
}

TEST(Verify, SumThatDoublesAtEveryStep_IsReportedWithoutOverflow) {
  std::vector<std::vector<Transfer>> steps(80, {Reduce{0, 1, 0}, Reduce{1, 0, 0}});
  EXPECT_EQ(first_fault(listed(kTwo, steps)),
            "step 1, rank 0, chunk 0: holds the contribution of rank 0 twice");
}

TEST(Verify, RankBeyondTheFirstWordOfASet_IsMissedToo) {
  Schedule s = build(Collective::reduce, "star", 257);
  s.step = [step = s.step](int t, Emit emit) {
    step(t, [&](const Transfer& x) {
      if (x.src != 200) emit(x);
    });
  };
  EXPECT_EQ(first_fault(s), "at the end, rank 0, chunk 0: lacks the contribution of rank 200");
}

TEST(Verify, EarliestFaultComesFirst_WhatNeverArrivedLast) {
  const Verdict v =
      verify(listed(kThree, {{}, {Reduce{1, 0, 0}}, {Reduce{1, 0, 0}}, {Copy{0, 2, 0}}}));
  ASSERT_EQ(v.wrong.size(), 2U);
  EXPECT_EQ(v.wrong[0].step, 2);  // rank 0 adds rank 1 again; rank 2 has it from there
  EXPECT_EQ(v.wrong[1].step, -1);
  EXPECT_EQ(v.wrong[1].rank, 1);
}

TEST(Verify, MalformedTransfer_IsACounterExampleNotACrash) {
  const auto with = [](const Transfer& x) { return first_fault(listed(kTwo, {{x}})); };
  EXPECT_THAT(with({2, 0}), HasSubstr("names rank 2 of 2"));
  EXPECT_THAT(with({0, -1}), HasSubstr("names rank -1 of 2"));
  EXPECT_THAT(with({0, 1, 1, 0}), HasSubstr("chunks [1, 2) of 1"));
  EXPECT_THAT(with({0, 1, 0, -1}), HasSubstr("chunks [-1, 0) of 1"));
  EXPECT_THAT(with({0, 1, 0, 0, Verb::copy, -1}), HasSubstr("a transfer of -1 chunks"));
  EXPECT_THAT(with({0, 1, 0, 0, Verb::copy, 0x7fffffff}), HasSubstr("chunks [0, 2147483647) of 1"));
  EXPECT_THAT(with({0, 1, 0, 0, Verb::signal, 1}), HasSubstr("a signal carries 1 chunks"));
}

TEST(Verify, MalformedSchedule_IsACounterExampleNotACrash) {
  EXPECT_EQ(first_fault({.ranks = 0}), "the schedule has 0 ranks");
  EXPECT_EQ(first_fault({.ranks = 1, .chunks = 0}), "the schedule has 0 chunks");
  EXPECT_EQ(first_fault({.ranks = 1, .steps = 1}),
            "the schedule has steps but nothing that walks them");
  EXPECT_EQ(first_fault({.ranks = 2, .root = 2}), "root 2 is not one of 2 ranks");
  EXPECT_EQ(first_fault({.ranks = 2, .servers = 2}), "2 servers of 2 ranks leave no worker");
}

TEST(Verify, AtMostEightCounterExamples) {
  EXPECT_EQ(verify(Schedule{.ranks = 50}).wrong.size(), kMostExamples);
}

TEST(Lint, TwoCopiesIntoOneChunk_AreAWriteWritePair) {
  const Schedule s{.ranks = 3, .collective = Collective::broadcast};
  EXPECT_EQ(only_lint(listed(s, {{Copy{0, 1, 0}}, {Copy{0, 2, 0}, Copy{1, 2, 0}}})),
            "step 1, rank 2, chunk 0: a copy from rank 1 overwrites what came in the same step");
}

TEST(Lint, CopyAfterAReduceInOneStep_IsAWriteWritePair) {
  const Schedule s{.ranks = 3, .collective = Collective::broadcast};
  EXPECT_EQ(only_lint(listed(s, {{Copy{0, 1, 0}}, {Reduce{0, 2, 0}, Copy{1, 2, 0}}})),
            "step 1, rank 2, chunk 0: a copy from rank 1 overwrites what came in the same step");
}

TEST(Lint, CopyOfWhatIsThere_IsRedundant) {
  const Schedule s{.ranks = 2, .collective = Collective::broadcast};
  EXPECT_EQ(only_lint(listed(s, {{Copy{0, 1, 0}}, {Copy{1, 0, 0}}})),
            "step 1, rank 0, chunk 0: a copy brings what is already there");
}

TEST(Lint, WriteThatNobodyReads_IsUnused) {
  const Schedule s{.ranks = 3, .collective = Collective::reduce};
  EXPECT_EQ(only_lint(listed(s, {{Reduce{1, 0, 0}}, {Reduce{2, 0, 0}, Reduce{1, 2, 0}}})),
            "step 1, rank 2, chunk 0: what is written here is never read, nor owed");
  const Schedule b{.ranks = 3, .collective = Collective::broadcast};
  EXPECT_EQ(only_lint(listed(b, {{Copy{1, 2, 0}}, {Copy{0, 1, 0}, Copy{0, 2, 0}}})),
            "step 0, rank 2, chunk 0: what is written here is overwritten unread");
}

}  // namespace
}  // namespace collmark
