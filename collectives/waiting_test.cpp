#include "collectives/waiting.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace collmark {
namespace {

using std::chrono::seconds;

TEST(Waiting, RanksThatAreBoundToOneCoreGiveWayWhereverOthersAre) {
  EXPECT_TRUE(Waiting({{0}, {0}, {0}, {0, 1, 2, 3}}, seconds{1}).crowded);
  EXPECT_TRUE(Waiting({{0, 1}, {0}, {1}}, seconds{1}).crowded);
  EXPECT_LT(Waiting({{5}, {5}, {6}}, seconds{1}).spins, Waiting({{5}, {6}, {7}}, seconds{1}).spins);
}

TEST(Waiting, RanksThatCanHaveACoreEachSpin) {
  EXPECT_FALSE(Waiting({{0, 1}, {0}}, seconds{1}).crowded);
  EXPECT_FALSE(Waiting({{0, 1, 2}, {0, 1, 2}, {0, 1, 2}}, seconds{1}).crowded);
}

TEST(Waiting, RanksWithListsOfTheirOwnShareNoCoreByTheirNumbers) {
  EXPECT_FALSE(Waiting({{0}, {0}}, seconds{1}).share_a_core(0, 1));
}

}  // namespace
}  // namespace collmark
