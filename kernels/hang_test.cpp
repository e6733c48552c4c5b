#include "kernels/hang.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace collmark {
namespace {

Stuck stuck(const FlagWait& wait) { return {.claimed = 1, .complete = 1, .wait = wait}; }

TEST(Hang, OfNobodyWhoGaveUpSaysNothing) {
  EXPECT_EQ(hang({}, 4), "");
  EXPECT_EQ(hang(std::vector<Stuck>(3), 4), "");
}

TEST(Hang, IsFollowedToTheRankThatWaitedForNobody) {
  const std::vector<Stuck> blocks{
      stuck({.rank = 0, .peer = 1, .step = 5}),
      {},
      stuck({.rank = 1, .peer = 3, .step = 2, .expected = 6, .found = 5}),
  };
  EXPECT_EQ(
      hang(blocks, 4),
      "rank 1 waited for rank 3 in step 2: data in slot 1 on channel 0, flag 6 expected, 5 found");
}

TEST(Hang, IsFollowedOnItsOwnChannelFirst) {
  const std::vector<Stuck> blocks{
      stuck({.what = Awaited::arrival, .rank = 0, .peer = 1, .channel = 1}),
      stuck({.what = Awaited::arrival, .rank = 1, .peer = 2, .channel = 0}),
      stuck({.what = Awaited::arrival, .rank = 1, .peer = 3, .channel = 1, .expected = 1}),
  };
  EXPECT_EQ(hang(blocks, 4),
            "rank 1 waited for rank 3 in step 0: its arrival at the barrier on channel 1, flag 1 "
            "expected, 0 found");
}

TEST(Hang, OfACircleNamesAllWhoAreInIt) {
  const std::vector<Stuck> blocks{
      stuck({.rank = 3, .peer = 0, .step = 9}),
      stuck({.what = Awaited::credit, .rank = 0, .peer = 1, .step = 1, .expected = 0xfffffffe}),
      stuck({.what = Awaited::progress, .rank = 1, .peer = 0, .step = -1, .expected = 7}),
  };
  EXPECT_EQ(
      hang(blocks, 4),
      "rank 0 waited for rank 1 in step 1: a credit for slot 1 on channel 0, flag "
      "4294967294 expected, 0 found; rank 1 waited for rank 0 after the last step: its progress on "
      "channel 0, flag 7 expected, 0 found");
}

}  // namespace
}  // namespace collmark
