#include "kernels/on_cpu/grid.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <numeric>
#include <vector>

namespace collmark::grid {
namespace {

std::string fault_of(const Launch& launch, const std::function<void()>& kernel) {
  try {
    run(launch, kernel);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

class Engines : public testing::TestWithParam<Engine> {};
INSTANTIATE_TEST_SUITE_P(Both, Engines, testing::Values(Engine::threads, Engine::fibers),
                         [](const auto& test) {
                           return test.param == Engine::threads ? "Threads" : "Fibers";
                         });

TEST_P(Engines, EveryLaneOfEveryBlockRunsOnce) {
  std::array<std::atomic<int>, 3 * 40> runs{};
  run({.blocks = 3, .lanes = 40, .engine = GetParam()}, [&] {
    const Index& me = index();
    EXPECT_EQ(me.blocks, 3);
    EXPECT_EQ(me.lanes, 40);
    ++runs[static_cast<std::size_t>(me.block * me.lanes + me.lane)];
  });
  for (const auto& n : runs) EXPECT_EQ(n, 1);
}

TEST_P(Engines, ABarrierHoldsEverybodyBackUntilTheLastHasCome) {
  constexpr int kLanes = 37;  // a whole warp and a part of one
  std::atomic<int> arrived{0};
  std::atomic<bool> early{false};
  run({.lanes = kLanes, .engine = GetParam()}, [&] {
    for (int round = 1; round <= 5; ++round) {
      ++arrived;
      at_flag(&arrived, Scope::system);
      block_barrier();
      if (arrived < round * kLanes) early = true;
      block_barrier();
    }
  });
  EXPECT_FALSE(early);
}

TEST_P(Engines, AWarpExchangesWordsAndVotes) {
  std::atomic<int> wrong{0};
  run({.blocks = 2, .lanes = 40, .engine = GetParam()}, [&] {  // 32 and 8 lanes
    const int lane = index().lane, warp = lane / 32, size = warp == 0 ? 32 : 8;
    const auto word = static_cast<std::uint64_t>(100 * index().block + lane);
    const int from = (lane % 32 + 1) % size;
    const auto expected = static_cast<std::uint64_t>(100 * index().block + warp * 32 + from);
    if (shuffle(word, from) != expected) ++wrong;
    std::uint32_t odd = 0;
    for (int i = 1; i < size; i += 2) odd |= 1U << i;
    if (ballot(lane % 2 == 1) != odd) ++wrong;
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(Engines, SharedMemoryIsTheBlocksOwnAndOneForEachPlace) {
  std::atomic<int> wrong{0};
  const char one = 0, other = 0;
  run({.blocks = 4, .lanes = 8, .engine = GetParam()}, [&] {
    int* const a = reinterpret_cast<int*>(shared_memory(&one, 8 * sizeof(int)));
    int* const b = reinterpret_cast<int*>(shared_memory(&other, 8 * sizeof(int)));
    a[index().lane] = index().block;
    b[index().lane] = -1;
    block_barrier();
    if (std::accumulate(a, a + 8, 0) != 8 * index().block || b[0] != -1) ++wrong;
  });
  EXPECT_EQ(wrong, 0);
}

/// The order in which lanes pass a flag.
std::vector<int> order_of(std::uint64_t seed) {
  std::vector<int> order(4 * 4 * 3);
  std::atomic<std::size_t> passed{0};
  std::uint32_t flag = 0;
  run({.blocks = 4, .lanes = 4, .seed = seed}, [&] {
    for (int i = 0; i < 3; ++i) {
      at_flag(&flag, Scope::system);
      order[passed++] = index().block * 4 + index().lane;
    }
  });
  return order;
}

TEST(Fibers, ARunRepeatsByItsSeedAndAnotherSeedIsAnotherRun) {
  EXPECT_EQ(order_of(7), order_of(7));
  EXPECT_NE(order_of(7), order_of(8));
}

TEST(Fibers, ADeadlockIsToldWithWhoWaitsForWhat) {
  const std::string said = fault_of({.blocks = 3, .lanes = 2, .seed = 5}, [] {
    if (index().block == 1) return;
    while (true) pause_lane("the flag of block 1");
  });
  EXPECT_EQ(
      said,
      "seed 5: deadlock; block 0 waits for the flag of block 1; block 2 waits for the flag of "
      "block 1");
}

TEST(Fibers, ADeadlockIsToldWithTheFlagsThatDidNotCome) {
  const std::string said = fault_of({.blocks = 2, .lanes = 1}, [] {
    const int me = index().block;
    const FlagWait wait{.what = me == 0 ? Awaited::data : Awaited::credit,
                        .rank = me,
                        .peer = 1 - me,
                        .step = 2,
                        .expected = 6,
                        .found = 5};
    while (true) pause_lane(wait);
  });
  EXPECT_EQ(said,
            "seed 1: deadlock; block 0 waits for rank 1 in step 2: data, flag 6 expected, 5 found; "
            "block 1 waits for rank 0 in step 2: a credit, flag 6 expected, 5 found");
}

TEST(Fibers, ABlockThatWasSwitchedAwayInTheMidstOfALookIsToldToo) {
  std::uint32_t flag = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string said =
        fault_of({.blocks = 2, .lanes = 1, .seed = seed, .switch_per_1024 = 1024}, [&] {
          const FlagWait wait{.what = Awaited::arrival, .peer = 1 - index().block, .step = -1};
          while (true) {
            at_flag(&flag, Scope::system);
            pause_lane(wait);
          }
        });
    for (const char* const peer : {"block 0 waits for rank 1", "block 1 waits for rank 0"})
      EXPECT_NE(said.find(std::string(peer) + " after the last step: its arrival at the barrier, "
                                              "flag 0 expected, 0 found"),
                std::string::npos)
          << said;
  }
}

TEST(Fibers, TimeIsCountedInTurnsThatRepeatByTheirSeed) {
  const auto end_of = [](Clock clock) {
    std::int64_t time = 0;
    run({.blocks = 2, .lanes = 2, .seed = 3, .clock = clock}, [&] {
      std::uint32_t flag = 0;
      for (int i = 0; i < 100; ++i) at_flag(&flag, Scope::system);
      if (index().block == 0 && index().lane == 0) time = nanoseconds();
    });
    return time;
  };
  EXPECT_EQ(end_of(Clock::turns), end_of(Clock::turns));
  EXPECT_LT(end_of(Clock::turns), 1000);
  const std::int64_t first = end_of(Clock::steady);
  EXPECT_LT(first, end_of(Clock::steady));
}

TEST(Fibers, ABarrierThatCannotFillIsADeadlock) {
  const std::string said = fault_of({.lanes = 4}, [] {
    if (index().lane > 0) block_barrier();
  });
  EXPECT_EQ(said, "seed 1: deadlock; block 0 waits for the others at a barrier");
}

TEST(Fibers, BlocksThatDoNotFitKeepTheOthersWaiting) {
  std::atomic<int> arrived{0};
  const auto wait_for_all = [&] {
    ++arrived;
    progress();
    while (arrived < 3) pause_lane("all blocks");
  };
  EXPECT_EQ(fault_of({.blocks = 3, .lanes = 1, .resident = 2}, wait_for_all),
            "seed 1: deadlock; 1 blocks never started; block 0 waits for all blocks; block 1 waits "
            "for all blocks");
  arrived = 0;
  EXPECT_EQ(fault_of({.blocks = 3, .lanes = 1, .resident = 3}, wait_for_all), "");
}

TEST(Fibers, AWordOfTwoRanksNeedsSystemScope) {
  std::uint32_t shared = 0;
  std::array<std::uint32_t, 2> own{};
  const auto touch = [](std::uint32_t& word, Scope scope) { at_flag(&word, scope); };
  const Launch two{.blocks = 2, .lanes = 1, .blocks_per_rank = 1};
  EXPECT_NE(fault_of(two, [&] { touch(shared, Scope::device); }).find("less than system scope"),
            std::string::npos);
  EXPECT_EQ(fault_of(two, [&] { touch(shared, Scope::system); }), "");
  EXPECT_EQ(
      fault_of(two, [&] { touch(own[static_cast<std::size_t>(index().block)], Scope::device); }),
      "");
}

TEST(Grid, ALaunchThatMakesNoSenseIsRefused) {
  EXPECT_THROW(run({.blocks = 0}, [] {}), std::invalid_argument);
  EXPECT_THROW(run({.lanes = 1025}, [] {}), std::invalid_argument);
}

}  // namespace
}  // namespace collmark::grid
