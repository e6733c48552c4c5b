#include "bench/link_matrix.hpp"

#include <gtest/gtest.h>

#include <set>

#include "topologies/host.hpp"

namespace collmark {
namespace {

TEST(LinkMatrix, RoundsHoldEveryPairOnceAndNobodyTwiceInARound) {
  for (std::size_t n = 0; n <= 9; ++n) {
    std::set<std::pair<std::size_t, std::size_t>> seen;
    for (const auto& round : disjoint_rounds(n)) {
      std::set<std::size_t> busy;
      for (const auto& [a, b] : round) {
        EXPECT_LT(a, b);
        EXPECT_LT(b, n);
        EXPECT_TRUE(busy.insert(a).second && busy.insert(b).second) << n;
        EXPECT_TRUE(seen.emplace(a, b).second) << n;
      }
    }
    EXPECT_EQ(seen.size(), n < 2 ? 0 : n * (n - 1) / 2) << n;
  }
}

TEST(LinkMatrix, EveryPairOfThisHostsCoresIsMeasured) {
  const std::vector<int> cores = this_host().cores;
  const auto links = measure_links(cores, Bytes{64 << 10});
  ASSERT_EQ(links.size(), cores.size() * (cores.size() - 1) / 2);
  for (const PairLink& link : links) {
    EXPECT_GT(link.flag.count(), 0.0);
    EXPECT_GT(link.copy_gb_per_s, 0.0);
    EXPECT_GT(link.shared_gb_per_s, 0.0);
  }
}

PairLink link_of(int first, int second, Seconds flag, double alone, double shared) {
  return {.first = first,
          .second = second,
          .flag = flag,
          .copy_gb_per_s = alone,
          .shared_gb_per_s = shared};
}

TEST(LinkMatrix, SlowestLinksAreNamed) {
  std::vector<PairLink> links{link_of(0, 1, Seconds{50e-9}, 20, 10),
                              link_of(0, 2, Seconds{215e-9}, 25, 2),
                              link_of(1, 2, Seconds{52e-9}, 5, 10)};
  EXPECT_EQ(slowest_links(links, "core"),
            "slowest flag: core 0 to core 2, 215 ns, 4.1 times the median\n"
            "slowest copy: core 1 to core 2, 5 GB/s, 0.25 times the median\n"
            "slowest copy, all pairs at once: core 0 to core 2, 2 GB/s, 0.2 times the median\n");
  links[2].first_host = "a", links[2].second_host = "b";
  EXPECT_NE(slowest_links(links, "rank").find("slowest copy: rank 1 (a) to rank 2 (b), 5 GB/s"),
            std::string::npos);
  EXPECT_EQ(slowest_links({}, "core"), "");
}

TEST(LinkMatrix, SlowestLinksAreNeitherAPlaceAndItselfNorAPairThatWasNotMeasured) {
  std::vector<PairLink> links{link_of(0, 0, Seconds{9e-6}, 0.1, 0.1),
                              link_of(0, 1, Seconds{1e-6}, 20.0, 10.0),
                              link_of(1, 0, Seconds{2e-6}, 30.0, 15.0)};
  links.push_back({.first = 1, .second = 2, .reason = "cannot reach it"});
  const std::string said = slowest_links(links, "GPU");
  EXPECT_NE(said.find("slowest flag: GPU 1 to GPU 0, 2"), std::string::npos) << said;
  EXPECT_NE(said.find("slowest copy: GPU 0 to GPU 1, 20 GB/s"), std::string::npos) << said;
  EXPECT_EQ(slowest_links({links.front(), links.back()}, "GPU"), "");
}

}  // namespace
}  // namespace collmark
