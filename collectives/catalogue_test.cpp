/// What holds for every algorithm of the catalogue, at every number of ranks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "collectives/catalogue.hpp"
#include "collectives/verify.hpp"

namespace collmark {
namespace {

std::vector<int> proving_ranks() {
  std::vector<int> ranks;
  for (int p = 1; p <= 33; ++p) ranks.push_back(p);
  ranks.insert(ranks.end(), {64, 128, 257});
  return ranks;
}

/// Empty where the algorithm says that it cannot: then its reason must carry the number of ranks.
std::optional<Schedule> schedule_of(const Algorithm& a, int ranks) {
  try {
    return build(a.collective, a.name, ranks);
  } catch (const Unsupported& why) {
    EXPECT_NE(std::string(why.what()).find(std::to_string(ranks)), std::string::npos) << why.what();
    return std::nullopt;
  }
}

class EverySchedule : public testing::TestWithParam<Algorithm> {
 protected:
  /// Calls check(schedule) for every number of ranks that the algorithm can do.
  template <class Check>
  void at_all_ranks(Check check) {
    for (const int p : proving_ranks()) {
      SCOPED_TRACE(
          fmt::format("{} {} at {} ranks", name(GetParam().collective), GetParam().name, p));
      if (const auto s = schedule_of(GetParam(), p)) check(*s);
    }
  }
};

TEST_P(EverySchedule, DoesWhatItsCollectiveOwes) {
  at_all_ranks([](const Schedule& s) {
    const Verdict v = verify(s);
    EXPECT_TRUE(v.ok()) << to_string(v.wrong.front());
  });
}

TEST_P(EverySchedule, WritesNothingInVain) {
  at_all_ranks([](const Schedule& s) {
    if (s.servers > 0 && s.ranks - s.servers == 1)
      return;  // the only worker gets its own data back
    const Verdict v = verify(s);
    EXPECT_TRUE(v.lints.empty()) << to_string(v.lints.front());
  });
}

TEST_P(EverySchedule, IsSupportedAtOneAndAtPowersOfTwo) {
  for (const int p : {1, 2, 4, 8, 16, 32, 64, 128})
    EXPECT_TRUE(schedule_of(GetParam(), p)) << GetParam().name << " at " << p << " ranks";
}

TEST_P(EverySchedule, MovesNothingBetweenRanksAtOneRank) {
  const Schedule s = build(GetParam().collective, GetParam().name, 1);
  EXPECT_EQ(s.servers, 0);
  if (s.collective == Collective::all_to_all) {  // its output is another buffer
    EXPECT_EQ(transfers(s, 0), (std::vector<Transfer>{Move{0, 0, 0, 1}}));
    EXPECT_EQ(s.steps, 1);
  } else {
    EXPECT_EQ(s.steps, 0);
  }
}

TEST_P(EverySchedule, IsTheSameListOnEveryWalk) {
  at_all_ranks([](const Schedule& s) {
    if (s.ranks > 33) return;
    const Schedule copy = s;
    for (int t = s.steps - 1; t >= 0; --t) EXPECT_EQ(transfers(s, t), transfers(copy, t));
  });
}

TEST_P(EverySchedule, SendsSomethingInEveryStep) {
  at_all_ranks([](const Schedule& s) {
    for (int t = 0; t < s.steps; ++t) EXPECT_FALSE(transfers(s, t).empty()) << "step " << t;
  });
}

TEST_P(EverySchedule, TrafficRunsAreTrue) {
  using Pattern = std::map<std::pair<int, int>, int>;
  // Of all transfers, or of reduces only.
  const auto pattern = [](const Schedule& s, int step, Verb verb) {
    Pattern chunks;
    s.step(step, [&](const Transfer& x) {
      if (x.src != x.dst && (verb == x.verb || verb == Verb::copy))
        chunks[{x.src, x.dst}] += x.count;
    });
    return chunks;
  };
  at_all_ranks([&](const Schedule& s) {
    int step = 0;
    for (const TrafficRun& run : traffic_runs(s)) {
      ASSERT_GE(run.steps, 1);
      ASSERT_LE(step + run.steps, s.steps);
      const Pattern sent = pattern(s, step, Verb::copy), added = pattern(s, step, Verb::reduce);
      for (int i = 1; i < run.steps; ++i) {
        EXPECT_EQ(pattern(s, step + i, Verb::copy), sent);
        EXPECT_EQ(pattern(s, step + i, Verb::reduce), i < run.reducing ? added : Pattern{});
      }
      step += run.steps;
    }
    EXPECT_EQ(step, s.steps);
  });
}

class EveryAllReduceSchedule : public EverySchedule {};

TEST_P(EveryAllReduceSchedule, GivesAllRanksTheSameBits) {
  at_all_ranks([](const Schedule& s) {
    if (s.ranks > 33) return;
    // A sum is an expression: the order of its operands at one addition does not matter (the
    // operators commute), the order of the additions does (they do not associate).
    std::map<std::vector<int>, int> expressions;
    const auto id = [&](std::vector<int> of) {
      return expressions.emplace(std::move(of), static_cast<int>(expressions.size())).first->second;
    };
    const auto sum = [&](int a, int b) { return id({std::min(a, b), std::max(a, b)}); };
    std::map<std::pair<int, int>, int> at;
    for (int r = 0; r < s.ranks; ++r)
      for (int c = 0; c < s.chunks; ++c) at[{r, c}] = id({r, c, -1});
    for (int t = 0; t < s.steps; ++t) {
      std::map<std::pair<int, int>, std::vector<int>> arrived;
      std::map<std::pair<int, int>, bool> own_is_listed;
      s.step(t, [&](const Transfer& x) {
        for (int i = 0; i < x.count; ++i) {
          const std::pair to{x.dst, x.dst_chunk + i};
          arrived[to].push_back(at[{x.src, x.src_chunk + i}]);
          own_is_listed[to] |= x.verb == Verb::copy || x.src == x.dst;
        }
      });
      for (auto& [to, values] : arrived) {
        if (!own_is_listed[to]) values.insert(values.begin(), at[to]);
        int total = values[0];
        for (std::size_t i = 1; i < values.size(); ++i) total = sum(total, values[i]);
        at[to] = total;
      }
    }
    for (int r = s.servers; r < s.ranks; ++r)
      for (int c = 0; c < s.chunks; ++c)
        EXPECT_EQ((at[{r, c}]), (at[{s.servers, c}])) << "rank " << r << ", chunk " << c;
  });
}

std::string title(const testing::TestParamInfo<Algorithm>& of) {
  return fmt::format("{}_{}", name(of.param.collective), of.param.name);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EverySchedule,
                         testing::ValuesIn(catalogue().begin(), catalogue().end()), title);
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryAllReduceSchedule,
                         testing::ValuesIn(catalogue(Collective::all_reduce)), title);

// --- parameters ---

void expect_proved(Collective c, const std::string& algorithm, int ranks) {
  const Verdict v = verify(build(c, algorithm, ranks));
  EXPECT_TRUE(v.ok()) << algorithm << " at " << ranks << " ranks: " << to_string(v.wrong.front());
}

TEST(Parameter, SegmentsServersAndGridsOfAnySize_StillDoWhatIsOwed) {
  constexpr auto all_reduce = Collective::all_reduce;
  for (int p = 1; p <= 12; ++p)
    for (const int n : {1, 2, 3, 7}) {
      expect_proved(all_reduce, fmt::format("pipelined_tree:{}", n), p);
      expect_proved(all_reduce, fmt::format("double_binary_tree:{}", n), p);
      expect_proved(Collective::broadcast, fmt::format("chain:{}", n), p);
      expect_proved(Collective::reduce, fmt::format("chain:{}", n), p);
      if (n < p || p == 1)
        expect_proved(all_reduce, fmt::format("sharded_parameter_server:{}", n), p);
      if (p % n == 0)
        expect_proved(all_reduce, fmt::format("hierarchical_ring:{}x{}", n, p / n), p);
    }
}

TEST(Parameter, EveryRankCanBeTheRoot) {
  for (const Collective c : {Collective::broadcast, Collective::reduce})
    for (const Algorithm& a : catalogue(c))
      for (int p = 1; p <= 9; ++p)
        for (int root = 0; root < p; ++root) {
          const Schedule s = build(c, a.name, p, root);
          EXPECT_EQ(s.root, root);
          EXPECT_TRUE(verify(s).ok()) << a.name << ", " << p << " ranks, root " << root;
        }
}

std::string refusal(Collective c, const std::string& algorithm, int ranks, int root = 0) {
  try {
    (void)build(c, algorithm, ranks, root);
    return "accepted";
  } catch (const Unsupported& e) {
    return std::string("unsupported: ") + e.what();
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Parameter, RanksThatCannotBeDone_AreRefusedWithTheNumbers) {
  constexpr auto c = Collective::all_reduce;
  EXPECT_EQ(refusal(c, "swing", 6), "unsupported: swing needs a power of two, not 6 ranks");
  EXPECT_EQ(refusal(c, "sharded_parameter_server:4", 4),
            "unsupported: sharded_parameter_server: 4 servers of 4 ranks leave no worker");
  EXPECT_EQ(refusal(c, "hierarchical_ring:2x3", 8),
            "unsupported: hierarchical_ring: a grid of 2x3 is not 8 ranks");
  EXPECT_EQ(refusal(c, "hierarchical_ring:65536x65536", 8),
            "unsupported: hierarchical_ring: a grid of 65536x65536 is not 8 ranks");
  EXPECT_EQ(refusal(Collective::reduce_scatter, "recursive_halving", 3),
            "unsupported: recursive halving needs a power of two, not 3 ranks");
}

TEST(Parameter, RootOfACollectiveThatHasNone_IsRefused) {
  EXPECT_EQ(refusal(Collective::all_reduce, "ring", 4, 1), "all_reduce has no root, so not 1");
  EXPECT_EQ(refusal(Collective::broadcast, "star", 4, 4), "root 4 is not one of 4 ranks");
}

TEST(Parameter, MalformedOnes_AreRefused) {
  constexpr auto c = Collective::all_reduce;
  for (const char* bad : {"ring:", "ring:0", "ring:-1", "ring:2x", "ring:a", "ring:2,3"})
    EXPECT_NE(refusal(c, bad, 4).find("after the colon expected a number"), std::string::npos)
        << bad;
  EXPECT_EQ(refusal(c, "ring:2", 4), "algorithm 'ring' takes no parameter");
  EXPECT_EQ(refusal(c, "pipelined_tree:2x2", 4),
            "algorithm 'pipelined_tree' takes one number (segments)");
  EXPECT_EQ(refusal(c, "hierarchical_ring:4", 4),
            "algorithm 'hierarchical_ring' takes MxN (m x n)");
}

TEST(Grid, IsTheSquarestWithAtMostAsManyNodesAsLocalRanks) {
  for (const auto& [p, m, n] :
       {std::array{1, 1, 1}, {2, 1, 2}, {7, 1, 7}, {12, 3, 4}, {64, 8, 8}}) {
    EXPECT_EQ(squarest_grid(p).m, m);
    EXPECT_EQ(squarest_grid(p).n, n);
  }
}

// --- size ---

TEST(Schedule, SixtyFiveThousandRanks_AreWalkedInManyFewTransfers) {
  for (const char* algorithm : {"rabenseifner", "circulant", "swing", "recursive_doubling",
                                "binomial_tree", "pipelined_tree", "double_binary_tree"}) {
    const Schedule s = build(Collective::all_reduce, algorithm, 65'536);
    long count = 0;
    for (int t = 0; t < s.steps; ++t) s.step(t, [&](const Transfer&) { ++count; });
    EXPECT_LE(count, 65'536L * 2 * 2 * 16) << algorithm;
  }
}

}  // namespace
}  // namespace collmark
