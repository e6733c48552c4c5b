#include "bench/library_rules.hpp"

#include <gtest/gtest.h>

namespace collmark {
namespace {

std::string all_reduce(std::string_view algorithm, int ranks, std::int64_t count,
                       Bytes segment = {}) {
  return open_mpi_runs(
      {.algorithm = algorithm, .ranks = ranks, .count = {count}, .segment = segment});
}

TEST(LibraryRules, RingOfFewerElementsThanRanksIsRecursiveDoubling) {
  EXPECT_EQ(all_reduce("ring", 4, 2), "recursive_doubling");
  EXPECT_EQ(all_reduce("ring", 4, 3), "recursive_doubling");
  EXPECT_EQ(all_reduce("ring", 4, 4), "ring");
}

TEST(LibraryRules, SegmentedRingNeedsASegmentForEachRank) {
  EXPECT_EQ(all_reduce("segmented_ring", 4, 1200), "ring");  // not cut: one segment in all
  EXPECT_EQ(all_reduce("segmented_ring", 4, 255, Bytes{256}), "ring");
  EXPECT_EQ(all_reduce("segmented_ring", 4, 256, Bytes{256}), "segmented_ring");
  EXPECT_EQ(all_reduce("segmented_ring", 4, 2, Bytes{256}), "recursive_doubling");
}

TEST(LibraryRules, RabenseifnerNeedsAnElementForEachRankOfThePowerOfTwoBelow) {
  EXPECT_EQ(all_reduce("rabenseifner", 7, 3), "linear");
  EXPECT_EQ(all_reduce("rabenseifner", 7, 4), "rabenseifner");
  EXPECT_EQ(all_reduce("rabenseifner", 8, 7), "linear");
}

TEST(LibraryRules, NothingRunsForNoElements) { EXPECT_EQ(all_reduce("ring", 4, 0), "none"); }

TEST(LibraryRules, NothingRunsForEmptyBlocks) {
  const auto runs = [](std::int64_t count) {
    return open_mpi_runs({.collective = Collective::all_to_all,
                          .algorithm = "pairwise",
                          .ranks = 4,
                          .count = {count}});
  };
  EXPECT_EQ(runs(3), "none");
  EXPECT_EQ(runs(4), "pairwise");
}

TEST(LibraryRules, GatheringFallsBackByTheNumberOfRanks) {
  const auto runs = [](std::string_view algorithm, int ranks) {
    return open_mpi_runs({.collective = Collective::all_gather,
                          .algorithm = algorithm,
                          .ranks = ranks,
                          .count = {4800}});
  };
  EXPECT_EQ(runs("recursive_doubling", 8), "recursive_doubling");
  EXPECT_EQ(runs("recursive_doubling", 6), "bruck");
  EXPECT_EQ(runs("neighbor_exchange", 6), "neighbor_exchange");
  EXPECT_EQ(runs("neighbor_exchange", 5), "ring");
}

TEST(LibraryRules, BroadcastOfFewElementsIsNotScattered) {
  const auto runs = [](std::string_view algorithm, std::int64_t count, Bytes segment) {
    return open_mpi_runs({.collective = Collective::broadcast,
                          .algorithm = algorithm,
                          .ranks = 4,
                          .count = {count},
                          .segment = segment});
  };
  EXPECT_EQ(runs("scatter_allgather", 3, {}), "linear");
  EXPECT_EQ(runs("scatter_allgather_ring", 4, {}), "scatter_allgather_ring");
  EXPECT_EQ(runs("split_binary_tree", 1, {}), "chain");
  EXPECT_EQ(runs("split_binary_tree", 63, Bytes{128}), "chain");
  EXPECT_EQ(runs("split_binary_tree", 64, Bytes{128}), "split_binary_tree");
}

TEST(LibraryRules, OnlyAlgorithmsThatCutTakeASegment) {
  EXPECT_TRUE(open_mpi_cuts(Collective::all_reduce, "segmented_ring"));
  EXPECT_FALSE(open_mpi_cuts(Collective::all_reduce, "ring"));
  EXPECT_TRUE(open_mpi_cuts(Collective::reduce, "pipeline"));
  EXPECT_FALSE(open_mpi_cuts(Collective::all_gather, "ring"));
}

}  // namespace
}  // namespace collmark
