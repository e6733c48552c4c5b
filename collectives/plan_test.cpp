#include "collectives/plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

using Link = std::tuple<int, int>;  // src, dst

/// Every catalogue algorithm that does `ranks` ranks.
std::vector<std::pair<std::string, Schedule>> all_schedules(int ranks) {
  std::vector<std::pair<std::string, Schedule>> list;
  for (const Algorithm& a : catalogue()) {
    try {
      list.emplace_back(fmt::format("{} {} at {} ranks", name(a.collective), a.name, ranks),
                        build(a.collective, a.name, ranks));
    } catch (const Unsupported&) {
    }
  }
  return list;
}

std::map<Link, int> chunks_by_link(const Schedule& s) {
  std::map<Link, int> chunks;
  for (int t = 0; t < s.steps; ++t)
    for (const Transfer& x : transfers(s, t))
      if (x.src != x.dst)
        chunks[{x.src, x.dst}] += std::max(x.count, x.verb == Verb::signal ? 1 : 0);
  return chunks;
}

std::map<Link, int> chunks_by_link(const Plan& plan) {
  std::map<Link, int> chunks;
  for (const RankPlan& r : plan.ranks)
    for (const Action& a : r.actions)
      for (const Edge& e : a.edges) ++chunks[{e.src, e.dst}];
  return chunks;
}

TEST(Plan, EveryTransferOfTheScheduleIsExecutedOnceOverItsOwnLink) {
  for (int ranks = 1; ranks <= 9; ++ranks)
    for (const auto& [label, schedule] : all_schedules(ranks))
      for (const Placement placement : {Placement::in_place, Placement::out_of_place})
        EXPECT_EQ(chunks_by_link(plan(schedule, placement)), chunks_by_link(schedule)) << label;
}

/// Runs all ranks of a plan in a given order of preference; returns how many actions were left when nobody
/// could go on.
int actions_left_stuck(const Plan& plan, bool last_rank_first) {
  const int ranks = static_cast<int>(plan.ranks.size());
  std::vector<std::size_t> done(plan.ranks.size(), 0);
  bool moved = true;
  while (moved) {
    moved = false;
    for (int i = 0; i < ranks; ++i) {
      const auto r = static_cast<std::size_t>(last_rank_first ? ranks - 1 - i : i);
      const auto ready = [&](const Wait& w) {
        return done[static_cast<std::size_t>(w.peer)] >= static_cast<std::size_t>(w.actions);
      };
      const auto& actions = plan.ranks[r].actions;
      while (done[r] < actions.size() &&
             std::all_of(actions[done[r]].waits.begin(), actions[done[r]].waits.end(), ready)) {
        ++done[r];
        moved = true;
      }
    }
  }
  int left = 0;
  for (std::size_t r = 0; r < done.size(); ++r)
    left += static_cast<int>(plan.ranks[r].actions.size() - done[r]);
  return left;
}

TEST(Plan, NoRankWaitsForeverWhateverTheOrderInWhichRanksRun) {
  for (int ranks = 1; ranks <= 17; ++ranks) {
    for (const auto& [label, schedule] : all_schedules(ranks)) {
      for (const Placement placement : {Placement::in_place, Placement::out_of_place}) {
        const Plan p = plan(schedule, placement);
        EXPECT_EQ(actions_left_stuck(p, false), 0) << label;
        EXPECT_EQ(actions_left_stuck(p, true), 0) << label;
      }
    }
  }
}

TEST(Plan, WhatSomebodyWaitsForIsAnnounced) {
  for (const auto& [label, schedule] : all_schedules(6)) {
    const Plan p = plan(schedule, Placement::in_place);
    const auto check = [&, &label = label](const std::vector<Wait>& waits) {
      for (const Wait& w : waits) {
        if (w.actions == 0) continue;
        EXPECT_TRUE(p.ranks[static_cast<std::size_t>(w.peer)]
                        .actions[static_cast<std::size_t>(w.actions - 1)]
                        .announced)
            << label;
      }
    };
    for (const RankPlan& r : p.ranks) {
      for (const Action& a : r.actions) check(a.waits);
      check(r.leave);
    }
  }
}

TEST(Plan, RingOfTwo_IsOnePassThatReducesAndStoresIntoBothBuffers) {
  const Plan p = plan(build(Collective::all_reduce, "ring", 2), Placement::in_place);
  for (const RankPlan& r : p.ranks) {
    ASSERT_EQ(r.actions.size(), 1U);
    EXPECT_EQ(r.actions[0].sources.size(), 2U);
    EXPECT_EQ(r.actions[0].destinations.size(), 2U);
    EXPECT_FALSE(r.uses_scratch);
  }
}

TEST(Plan, RingOfFour_FusesOnlyTheHandOverFromReduceScatterToAllGather) {
  const Plan p = plan(build(Collective::all_reduce, "ring", 4), Placement::in_place);
  for (const RankPlan& r : p.ranks) {
    EXPECT_EQ(r.actions.size(), 5U);  // 3 reduces, the last one stores twice; 2 more copies
    const auto fused = std::count_if(r.actions.begin(), r.actions.end(),
                                     [](const Action& a) { return a.destinations.size() == 2; });
    EXPECT_EQ(fused, 1);
  }
}

int waits_of(const RankPlan& rank) {
  int waits = static_cast<int>(rank.leave.size());
  for (const Action& a : rank.actions) waits += static_cast<int>(a.waits.size());
  return waits;
}

TEST(Plan, Ring_WaitsOncePerStepForItsNeighbour) {
  const Plan p = plan(build(Collective::all_reduce, "ring", 8), Placement::in_place);
  for (const RankPlan& r : p.ranks) {
    EXPECT_EQ(r.actions.size(),
              13U);              // 7 reduces and 7 copies, one of them in the last reduce's pass
    EXPECT_EQ(waits_of(r), 14);  // for the left neighbour in each, for the right one to leave
  }
}

TEST(Plan, ASignalIsSentBeforeItsSendersOwnStep) {
  const Plan p = plan(build(Collective::barrier, "dissemination", 8), Placement::in_place);
  for (const RankPlan& r : p.ranks) {
    ASSERT_EQ(r.actions.size(), 3U);
    for (int step = 0; step < 3; ++step) {
      const Action& a = r.actions[static_cast<std::size_t>(step)];
      ASSERT_EQ(a.waits.size(), 1U);
      EXPECT_EQ(a.waits[0].actions, step);
    }
  }
}

TEST(Plan, AnInputIsSavedInTheFirstStep) {
  const Plan p = plan(build(Collective::all_to_all, "pairwise", 3), Placement::in_place);
  for (const RankPlan& r : p.ranks) EXPECT_EQ(r.actions.front().step, 0);
}

TEST(Plan, AStoreIntoAPeersBlock_WaitsUntilThatBlockIsSaved) {
  // Chunks 0 and 1 are input blocks, 2 and 3 output blocks; in place, 1 and 3 are the same memory.
  const Schedule s{.ranks = 2,
                   .chunks = 4,
                   .steps = 3,
                   .step =
                       [](int step, Emit emit) {
                         if (step == 0) emit(Transfer{1, 0, 0, 1, Verb::reduce});
                         if (step == 1)
                           emit(Move{.src = 0, .dst = 1, .src_chunk = 1, .dst_chunk = 3});
                         if (step == 2)
                           emit(Move{.src = 1, .dst = 0, .src_chunk = 1, .dst_chunk = 2});
                       },
                   .collective = Collective::all_to_all};
  const Plan p = plan(s, Placement::in_place);
  const auto fused = std::find_if(p.ranks[0].actions.begin(), p.ranks[0].actions.end(),
                                  [](const Action& a) { return a.destinations.size() == 2; });
  ASSERT_NE(fused, p.ranks[0].actions.end());
  ASSERT_EQ(fused->waits.size(), 1U);
  EXPECT_EQ(fused->waits[0].actions, 2) << "rank 1 saves block 0, which is read, then block 1";
}

TEST(Plan, RecursiveDoubling_SavesAnInputOnlyWhereItsSuccessorWouldLie) {
  const auto actions = [](int ranks, Placement placement) {
    const Schedule s = build(Collective::all_reduce, "recursive_doubling", ranks);
    return plan(s, placement).ranks[0].actions.size();
  };
  EXPECT_EQ(actions(4, Placement::out_of_place), 2U);  // one for each step
  EXPECT_EQ(actions(8, Placement::out_of_place), 3U);
  EXPECT_EQ(actions(4, Placement::in_place), 2U);  // the first sum lies in scratch memory
  EXPECT_EQ(actions(8, Placement::in_place), 4U);  // the second one does, so the input has to move
}

}  // namespace
}  // namespace collmark
