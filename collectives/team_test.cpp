#include "collectives/team.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <string>
#include <thread>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

int cores() { return static_cast<int>(this_host().cores.size()); }

/// What the team says when `body` runs in it.
std::string complaint(ThreadTeam& team, ErrorKind kind, const std::function<void(int)>& body) {
  try {
    team.run(body);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind);
    return e.what();
  }
  return "none";
}

TEST(ThreadTeam, OfNoRank_IsRefused_OfOne_IsNot) {
  EXPECT_THROW(ThreadTeam(0), Error);
  EXPECT_EQ(ThreadTeam(1).ranks(), 1);
}

TEST(ThreadTeam, OfTheMostRanks_IsAllowed_OfOneMore_IsNot) {
  EXPECT_NO_THROW(require_team(kMostTeamRanks));
  EXPECT_THROW(require_team(kMostTeamRanks + 1), Unsupported);
}

TEST(ThreadTeam, IsOversubscribed_FromOneRankMoreThanCores) {
  EXPECT_FALSE(ThreadTeam(cores()).oversubscribed());
  EXPECT_TRUE(ThreadTeam(cores() + 1).oversubscribed());
}

TEST(ThreadTeam, RanksAreDealtToTheCoresInTurn) {
  const int ranks = 2 * cores() + 1;
  ThreadTeam team(ranks);
  std::vector<int> core(static_cast<std::size_t>(ranks), -1);
  std::atomic<int> alone{0};
  team.run([&](int rank) {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    alone += CPU_COUNT(&set) == 1;
    core[static_cast<std::size_t>(rank)] = sched_getcpu();
  });
  EXPECT_EQ(alone, ranks);
  for (int r = 0; r < ranks; ++r)
    EXPECT_EQ(core[static_cast<std::size_t>(r)],
              this_host().cores[static_cast<std::size_t>(r % cores())]);
}

TEST(ThreadTeam, RanksShareACore_WhereTheyAreAMultipleOfTheCoresApart) {
  const auto crowded = ThreadTeam(2 * cores() + 1).share();
  EXPECT_TRUE(crowded->share_a_core(0, cores()));
  EXPECT_TRUE(crowded->share_a_core(2 * cores(), 0));
  EXPECT_EQ(crowded->share_a_core(1, cores()), cores() == 1);
  EXPECT_FALSE(ThreadTeam(cores()).share()->share_a_core(0, cores()));
  EXPECT_FALSE(ThreadTeam(cores() + 1, {.pin = false}).share()->share_a_core(0, cores()));
  crowded->cores = {0, 1, 2};  // as on a host of three
  EXPECT_TRUE(crowded->share_a_core(1, 4));
  EXPECT_FALSE(crowded->share_a_core(1, 2));
}

TEST(ThreadTeam, ABodyThatTakesLong_IsWaitedFor) {
  ThreadTeam team(2);
  std::atomic<int> back{0};
  EXPECT_NO_THROW(team.run([&](int) {  // longer than a failed team's ranks are given to come back
    std::this_thread::sleep_for(milliseconds(2'500));
    ++back;
  }));
  EXPECT_EQ(back, 2);
}

TEST(ThreadTeam, ARankThatMissesTheBarrier_IsNamed) {
  for (const int ranks : {2, 3, cores() + 2}) {  // with a core for each, and without
    ThreadTeam team(ranks, {.timeout = milliseconds(300)});
    const std::string words = complaint(team, ErrorKind::timed_out, [&](int rank) {
      if (rank != ranks - 1) team.barrier(rank);
    });
    EXPECT_THAT(words, HasSubstr("in the barrier"));
    EXPECT_THAT(words, HasSubstr("for rank " + std::to_string(ranks - 1) + " to arrive"));
    const std::string before = "waited ";
    const double waited = std::stod(words.substr(words.find(before) + before.size()));
    EXPECT_GE(waited, 0.3);
    EXPECT_LT(waited, 60) << "seconds";
  }
}

TEST(ThreadTeam, WhoWaitsForAHangingRank_NamesWhomThatOneWaitsFor) {
  struct Chain {
    int first, middle, hanging;
  };
  for (const Chain c : {Chain{0, 1, 2}, Chain{2, 1, 0}, Chain{1, 0, 2}}) {
    ThreadTeam team(3, {.timeout = milliseconds(600)});
    const auto shared = team.share();
    std::vector<Counter> never(3);
    const std::string words = complaint(team, ErrorKind::timed_out, [&](int rank) {
      if (rank == c.hanging) return;
      if (rank == c.middle)
        std::this_thread::sleep_for(milliseconds(100));  // so the first gives up first
      shared->await(never[static_cast<std::size_t>(rank)], 1,
                    {.rank = rank,
                     .peer = rank == c.first ? c.middle : c.hanging,
                     .step = rank == c.first ? 7 : 8,
                     .deed = Deed::take_part});
    });
    EXPECT_THAT(words, HasSubstr("rank " + std::to_string(c.middle) + " hung in step 8"));
    EXPECT_THAT(words, HasSubstr("for rank " + std::to_string(c.hanging) + " to do its part"));
  }
}

TEST(ThreadTeam, ACycleOfWaits_IsReportedToo) {
  ThreadTeam team(2, {.timeout = milliseconds(100)});
  const auto shared = team.share();
  std::vector<Counter> never(2);
  const std::string words = complaint(team, ErrorKind::timed_out, [&](int rank) {
    shared->await(never[static_cast<std::size_t>(rank)], 1,
                  {.rank = rank, .peer = 1 - rank, .step = kLeaving, .deed = Deed::take_part});
  });
  EXPECT_THAT(words, HasSubstr("at the end of the operation"));
}

TEST(ThreadTeam, AWaitThatIsOver_IsNoLongerNamed) {
  ThreadTeam team(3, {.timeout = milliseconds(600)});
  const auto shared = team.share();
  std::vector<Counter> counters(2);
  const std::string words = complaint(team, ErrorKind::timed_out, [&](int rank) {
    if (rank == 2) {
      std::this_thread::sleep_for(milliseconds(50));
      shared->publish(counters[0], 1);
    }
    if (rank == 1) shared->await(counters[0], 1, {.rank = 1, .peer = 2, .step = 0});
    if (rank == 0)
      shared->await(counters[1], 1, {.rank = 0, .peer = 1, .step = 4, .deed = Deed::take_part});
  });
  EXPECT_THAT(words, HasSubstr("rank 0 hung in step 4"));
}

TEST(Counter, IsReachedFromItsValueOn) {
  Counter counter;
  counter.publish(3);
  EXPECT_TRUE(counter.reached(2));
  EXPECT_TRUE(counter.reached(3));
  EXPECT_FALSE(counter.reached(4));
}

TEST(Counter, SleepersAreWokenByTheNextValue_AndNotKeptByAnOldOne) {
  Counter counter;
  counter.publish_and_wake(5);
  counter.sleep_below(5);  // returns at once
  EXPECT_EQ(counter.sleepers, 0U);
  std::thread waiting([&] {
    while (!counter.reached(6)) counter.sleep_below(6);
  });
  std::this_thread::sleep_for(milliseconds(20));
  counter.publish_and_wake(6);
  waiting.join();
  EXPECT_EQ(counter.sleepers, 0U);
}

TEST(ThreadTeam, AnInterruptedTeam_SaysSo) {
  ThreadTeam team(2);
  EXPECT_FALSE(team.interrupted());
  team.interrupt();
  EXPECT_TRUE(team.interrupted());
}

TEST(ThreadTeam, TheFirstErrorOfAnyRankReachesTheCaller) {
  ThreadTeam team(4);
  try {
    team.run([&](int rank) {
      if (rank == 1) throw Error(ErrorKind::wrong_result, "rank 1 is wrong");
      team.barrier(rank);
    });
    FAIL() << "the error was lost";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::wrong_result);
  }
}

TEST(ThreadTeam, Barrier_NobodyLeavesBeforeAllHaveArrived) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    ThreadTeam team(ranks);
    std::atomic<int> arrived{0};
    std::atomic<int> early{0};
    team.run([&](int rank) {
      for (int i = 1; i <= 200; ++i) {
        ++arrived;
        team.barrier(rank);
        if (arrived < i * ranks) ++early;
        team.barrier(rank);
      }
    });
    EXPECT_EQ(early, 0) << ranks;
  }
}

TEST(ThreadTeam, Interrupt_EndsWaitsWithInterrupted) {
  ThreadTeam team(2);
  try {
    team.run([&](int rank) {
      if (rank == 0)
        team.barrier(rank);
      else
        team.interrupt();
    });
    FAIL() << "rank 0 went on";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::interrupted);
  }
}

TEST(ThreadTeam, ARankThatNeverWaits_NoticesAnInterruptAtItsNextBarrier) {
  ThreadTeam team(1);
  int barriers = 0;
  try {
    team.run([&](int rank) {
      for (; barriers < 1000; ++barriers) {
        if (barriers == 10) team.interrupt();
        team.barrier(rank);
      }
    });
    FAIL() << "went on";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::interrupted);
    EXPECT_EQ(barriers, 10);
  }
}

}  // namespace
}  // namespace collmark
