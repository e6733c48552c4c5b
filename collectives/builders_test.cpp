/// What makes each algorithm the one its name says, beyond computing the right thing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

Schedule all_reduce(std::string_view algorithm, int ranks) {
  return build(Collective::all_reduce, algorithm, ranks);
}

/// "0>1 1>2": who sends to whom in one step, in list order.
std::string pairs(const Schedule& s, int step) {
  std::string all;
  for (const Transfer& x : transfers(s, step))
    all += fmt::format("{}{}>{}", all.empty() ? "" : " ", x.src, x.dst);
  return all;
}

/// The sources that are added up in one chunk of one rank in one step, in list order.
std::vector<int> sources(const Schedule& s, int step, int rank, int chunk) {
  std::vector<int> list;
  for (const Transfer& x : transfers(s, step))
    if (x.dst == rank && x.dst_chunk == chunk) list.push_back(x.src);
  return list;
}

std::vector<Transfer> sent(const Schedule& s, int step, int rank) {
  std::vector<Transfer> list = transfers(s, step);
  std::erase_if(list, [&](const Transfer& x) { return x.src != rank; });
  return list;
}

TEST(Ring, PartialSumsTravelClockwise) {
  const Schedule s = all_reduce("ring", 4);
  for (int t = 0; t < s.steps; ++t) EXPECT_EQ(pairs(s, t), "0>1 1>2 2>3 3>0");
}

TEST(OneShotAndTwoShot, AddUpInRankOrderAtEveryDestination) {
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(sources(all_reduce("one_shot", 4), 0, r, 0), (std::vector{0, 1, 2, 3}));
    EXPECT_EQ(sources(all_reduce("two_shot", 4), 0, r, r), (std::vector{0, 1, 2, 3}));
  }
}

TEST(ParameterServer, RootAddsTheOthersToItsOwn) {
  EXPECT_EQ(pairs(all_reduce("parameter_server", 4), 0), "1>0 2>0 3>0");
  EXPECT_EQ(pairs(all_reduce("parameter_server", 4), 1), "0>1 0>2 0>3");
}

TEST(DedicatedServer, ContributesNothing_FirstPushOpensItsChunk) {
  const Schedule s = all_reduce("parameter_server_dedicated", 4);
  EXPECT_EQ(s.servers, 1);
  EXPECT_EQ(transfers(s, 0),
            (std::vector<Transfer>{Copy{1, 0, 0}, Reduce{2, 0, 0}, Reduce{3, 0, 0}}));
}

TEST(ShardedServer, IsHalfOfTheRanksUnlessAsked) {
  EXPECT_EQ(all_reduce("sharded_parameter_server", 7).servers, 3);
  EXPECT_EQ(all_reduce("sharded_parameter_server", 2).servers, 1);
  EXPECT_EQ(all_reduce("sharded_parameter_server:2", 7).servers, 2);
}

TEST(BinomialTree, HalvesTheSendersInEveryStep) {
  const Schedule s = build(Collective::reduce, "binomial", 7);
  EXPECT_EQ(pairs(s, 0), "1>0 3>2 5>4");
  EXPECT_EQ(pairs(s, 1), "2>0 6>4");
  EXPECT_EQ(pairs(s, 2), "4>0");
}

TEST(PipelinedTrees, TakeTwiceTheirHeightAndOneStepPerFurtherSegment) {
  for (int p = 2; p <= 40; ++p)
    for (const int segments : {1, 5}) {
      const int steps = 2 * floor_log2(p) + segments - 1;
      EXPECT_EQ(all_reduce(fmt::format("pipelined_tree:{}", segments), p).steps, steps);
      EXPECT_EQ(all_reduce(fmt::format("double_binary_tree:{}", segments), p).steps, steps);
    }
}

TEST(PipelinedTree, SendsDownWhileLaterSegmentsComeUp) {
  const Schedule s = all_reduce("pipelined_tree:3", 3);
  EXPECT_EQ(pairs(s, 0), "1>0 2>0");
  EXPECT_EQ(pairs(s, 1), "1>0 2>0 0>1 0>2");
  EXPECT_EQ(pairs(s, 3), "0>1 0>2");
}

TEST(DoubleBinaryTree, NoRankIsAnInnerNodeOfBothTrees) {
  for (int p = 2; p <= 65; ++p) {
    const Schedule s = all_reduce("double_binary_tree:1", p);
    std::array<std::set<int>, 2> inner;
    for (int t = 0; t < s.steps; ++t)
      for (const Transfer& x : transfers(s, t))
        if (x.verb == Verb::reduce) inner[static_cast<std::size_t>(x.dst_chunk)].insert(x.dst);
    for (const int rank : inner[0]) EXPECT_FALSE(inner[1].contains(rank)) << p << " ranks";
    EXPECT_EQ(inner[0].size(), static_cast<std::size_t>(p / 2));
    EXPECT_EQ(inner[1].size(), static_cast<std::size_t>(p / 2));
  }
}

TEST(DoubleBinaryTree, OfEvenRanks_IsATreeAndItsMirrorImage) {
  for (const int p : {2, 6, 8}) {
    const Schedule s = all_reduce("double_binary_tree:1", p);
    for (int t = 0; t < s.steps; ++t) {
      std::set<std::pair<int, int>> first, second;
      for (const Transfer& x : transfers(s, t))
        x.src_chunk == 0 ? first.insert({x.src, x.dst})
                         : second.insert({p - 1 - x.src, p - 1 - x.dst});
      EXPECT_EQ(first, second) << p << " ranks, step " << t;
    }
  }
}

TEST(Chain, KeepsEveryLinkBusyOnceItIsFull) {
  const Schedule s = build(Collective::reduce, "chain:3", 4);
  EXPECT_EQ(pairs(s, 0), "3>2");
  EXPECT_EQ(pairs(s, 2), "1>0 2>1 3>2");
  EXPECT_EQ(pairs(s, 4), "1>0");
}

TEST(RecursiveDoubling, FoldsTheExtraRanksAwayAndBack) {
  const Schedule s = all_reduce("recursive_doubling", 6);
  EXPECT_EQ(pairs(s, 0), "4>0 5>1");
  EXPECT_EQ(pairs(s, 1), "0>1 1>0 2>3 3>2");
  EXPECT_EQ(pairs(s, 2), "0>2 1>3 2>0 3>1");
  EXPECT_EQ(pairs(s, 3), "0>4 1>5");
}

TEST(Rabenseifner, HalvesTheDistanceAndTheData) {
  const Schedule s = all_reduce("rabenseifner", 8);
  EXPECT_EQ(sent(s, 0, 0), (std::vector<Transfer>{Reduce{0, 4, 4, 4}}));
  EXPECT_EQ(sent(s, 1, 0), (std::vector<Transfer>{Reduce{0, 2, 2, 2}}));
  EXPECT_EQ(sent(s, 2, 0), (std::vector<Transfer>{Reduce{0, 1, 1, 1}}));
}

TEST(Circulant, SkipsAreTheRanksHalvedAndRoundedUp) {
  const Schedule s = all_reduce("circulant", 5);
  EXPECT_EQ(transfers(s, 0)[0].dst, 3);
  EXPECT_EQ(transfers(s, 1)[0].dst, 2);
  EXPECT_EQ(transfers(s, 2)[0].dst, 1);
}

TEST(HierarchicalRing, SendsOneShareOfTheNodeAcross) {
  const int m = 3, n = 4;
  const Schedule s = all_reduce("hierarchical_ring:3x4", m * n);
  int across = 0;  // chunks that rank 0 sends to other nodes
  for (int t = 0; t < s.steps; ++t)
    for (const Transfer& x : transfers(s, t))
      if (x.src == 0 && x.dst / n != 0) across += x.count;
  EXPECT_EQ(across, 2 * (m - 1));  // of m n chunks: 2K(m-1)/(mn)
}

TEST(Swing, SwingsFromSideToSide) {
  const Schedule s = all_reduce("swing", 16);
  const std::array rho{1, -1, 3, -5};  // De Sensi et al. 2024, equation 1
  for (int t = 0; t < 4; ++t)
    for (const Transfer& x : transfers(s, t)) {
      const int side = x.src % 2 == 0 ? 1 : -1;
      EXPECT_EQ(x.dst, mod(x.src + side * rho[static_cast<std::size_t>(t)], 16));
    }
}

TEST(PairwiseAllToAll, MeetsEveryPartnerOnce) {
  const Schedule s = build(Collective::all_to_all, "pairwise", 4);
  EXPECT_EQ(pairs(s, 0), "0>0 0>1 1>1 1>2 2>2 2>3 3>3 3>0");
  EXPECT_EQ(pairs(s, 1), "0>2 1>3 2>0 3>1");
  EXPECT_EQ(pairs(s, 2), "0>3 1>0 2>1 3>2");
}

TEST(DisseminationBarrier, DoublesTheDistance) {
  const Schedule s = build(Collective::barrier, "dissemination", 5);
  EXPECT_EQ(pairs(s, 0), "0>1 1>2 2>3 3>4 4>0");
  EXPECT_EQ(pairs(s, 1), "0>2 1>3 2>4 3>0 4>1");
  EXPECT_EQ(pairs(s, 2), "0>4 1>0 2>1 3>2 4>3");
}

TEST(Catalogue, NothingThatScriptsMayNameHasGoneFromIt) {
  const std::map<Collective, std::vector<std::string>> promised{
      {Collective::all_reduce,
       {"ring", "binomial_tree", "pipelined_tree", "double_binary_tree", "parameter_server",
        "parameter_server_dedicated", "sharded_parameter_server", "one_shot", "two_shot",
        "recursive_doubling", "rabenseifner", "circulant", "hierarchical_ring", "swing"}},
      {Collective::reduce_scatter, {"ring", "direct", "recursive_halving"}},
      {Collective::all_gather, {"ring", "direct", "recursive_doubling"}},
      {Collective::broadcast, {"binomial", "chain", "star"}},
      {Collective::reduce, {"binomial", "chain", "star"}},
      {Collective::all_to_all, {"pairwise"}},
      {Collective::barrier, {"dissemination"}}};
  for (const auto& [collective, names] : promised)
    for (const std::string& wanted : names) {
      const std::vector<Algorithm> there = catalogue(collective);
      EXPECT_TRUE(std::any_of(there.begin(), there.end(),
                              [&](const Algorithm& a) { return a.name == wanted; }))
          << name(collective) << " " << wanted;
    }
}

}  // namespace
}  // namespace collmark
