#include "topologies/own_cores.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace collmark {
namespace {

TEST(OwnCores, RanksThatAreBoundToOneCoreShareIt) {
  EXPECT_EQ(ranks_with_own_core({{0}, {0}, {0}, {0, 1, 2, 3}}), 2);
}

TEST(OwnCores, ARankMovesForOneThatCannot) {
  EXPECT_EQ(ranks_with_own_core({{0, 1}, {0}}), 2);
  EXPECT_EQ(ranks_with_own_core({{0, 1}, {1, 2}, {2, 3}, {2}, {1}}), 4);
  EXPECT_EQ(ranks_with_own_core({{0, 1}, {1, 2}, {0, 2}, {3, 0}, {0}}), 4);
}

TEST(OwnCores, RanksThatAreNotBoundNeedAsManyCores) {
  std::vector<int> all(64);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(ranks_with_own_core(std::vector<std::vector<int>>(64, all)), 64);
  EXPECT_EQ(ranks_with_own_core(std::vector<std::vector<int>>(100, all)), 64);
}

TEST(OwnCores, WithoutRanksOrCoresThereAreNone) {
  EXPECT_EQ(ranks_with_own_core({}), 0);
  EXPECT_EQ(ranks_with_own_core({{}, {5}}), 1);
}

}  // namespace
}  // namespace collmark
