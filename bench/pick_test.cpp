#include "bench/pick.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "bench/output.hpp"
#include "collectives/schedule_file.hpp"

namespace collmark {
namespace {

std::vector<Collective> collectives_of(std::string_view algorithm) {
  std::vector<Collective> found;
  for (const Pick& p : picks(algorithm, std::nullopt)) found.push_back(p.collective);
  return found;
}

TEST(Pick, NameWithoutCollective_IsEveryAlgorithmOfThatName) {
  EXPECT_THAT(collectives_of("ring"),
              testing::ElementsAre(Collective::all_reduce, Collective::reduce_scatter,
                                   Collective::all_gather));
  EXPECT_THAT(collectives_of("chain:4"),
              testing::ElementsAre(Collective::broadcast, Collective::reduce));
}

TEST(Pick, OneIsMeant_AllReduceComesFirstAndOthersMustBeSaid) {
  EXPECT_EQ(pick_one("ring", std::nullopt).collective, Collective::all_reduce);
  EXPECT_EQ(pick_one("pairwise", std::nullopt).collective, Collective::all_to_all);
  EXPECT_EQ(pick_one("star", Collective::reduce).collective, Collective::reduce);
  EXPECT_THROW((void)pick_one("star", std::nullopt), Error);
  EXPECT_THROW((void)pick_one("swing", Collective::reduce), Error);
}

TEST(Pick, FileIsOfTheCollectiveThatItSays) {
  const std::string path = testing::TempDir() + "pick_test.json";
  replace_file(path, to_json(build(Collective::reduce, "star", 3)));
  EXPECT_THAT(collectives_of("file:" + path), testing::ElementsAre(Collective::reduce));
  EXPECT_THROW((void)picks("file:" + path, Collective::broadcast), Error);
  std::remove(path.c_str());
}

TEST(Pick, DefaultParametersAreThoseThatBuildUses) {
  for (const Algorithm& a : catalogue()) {
    const Pick pick{a.collective, std::string(a.name)};
    std::vector<std::string> numbers;
    for (const int n : numbers_of(pick, 12)) numbers.push_back(std::to_string(n));
    if (numbers.empty() || a.name == "swing") continue;
    const std::string spelt =
        pick.algorithm + ":" + numbers[0] + (numbers.size() > 1 ? "x" + numbers[1] : "");
    const Schedule standard = build(a.collective, a.name, 12);
    const Schedule asked = build(a.collective, spelt, 12);
    ASSERT_EQ(standard.steps, asked.steps) << spelt;
    for (int t = 0; t < asked.steps; ++t)
      EXPECT_EQ(transfers(standard, t), transfers(asked, t)) << spelt;
  }
}

TEST(Pick, RangesShortenRunsOfNumbers) {
  EXPECT_EQ(ranges({1, 2, 3, 8, 16, 17}), "1-3,8,16-17");
  EXPECT_EQ(ranges({}), "");
}

}  // namespace
}  // namespace collmark
