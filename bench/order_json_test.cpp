#include "bench/order_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace collmark {
namespace {

nlohmann::json through_text(const nlohmann::json& json) {
  return nlohmann::json::parse(json.dump());
}

TEST(OrderJson, ACaseAndALinksOrderComeBackAsWhatTheyWere) {
  Case c;
  c.ranks = 5;
  const MpiOrder one = order_from_json(through_text(to_json(MpiOrder{c})));
  EXPECT_EQ(std::get<Case>(one).ranks, 5);
  const MpiOrder other =
      order_from_json(through_text(to_json(MpiOrder{LinksOrder{.ranks = 7, .copied = Bytes{12}}})));
  EXPECT_EQ(std::get<LinksOrder>(other).copied, Bytes{12});
  EXPECT_EQ(ranks_of(one), 5);
  EXPECT_EQ(ranks_of(other), 7);
}

TEST(OrderJson, OrdersForGpusComeBackWithWhatIsAskedOfTheirKernels) {
  Case c;
  c.ranks = 4;
  c.tuning = {.channels = 3, .slot = Bytes{64}, .misaligned = 1};
  const MpiOrder back = order_from_json(through_text(to_json(MpiOrder{GpuCase{.c = c}})));
  const auto& gpu = std::get<GpuCase>(back);
  EXPECT_EQ(ranks_of(back), 4);
  EXPECT_EQ(gpu.c.tuning, c.tuning);
  EXPECT_EQ(gpu.kernels, GpuKernels::ours);
  EXPECT_EQ(ranks_of(order_from_json(through_text(to_json(MpiOrder{GpusOrder{.ranks = 6}})))), 6);
}

TEST(OrderJson, OrdersForNcclComeBackAndAreNoneForOurKernels) {
  for (const GpuKernels kernels : {GpuKernels::ours, GpuKernels::nccl}) {
    const MpiOrder asked = GpusOrder{.ranks = 2, .kernels = kernels};
    const MpiOrder back = order_from_json(through_text(to_json(asked)));
    EXPECT_EQ(std::get<GpusOrder>(back).kernels, kernels);
  }
  Case c;
  c.ranks = 3;
  const MpiOrder back =
      order_from_json(through_text(to_json(MpiOrder{GpuCase{c, GpuKernels::nccl, 7}})));
  EXPECT_EQ(std::get<GpuCase>(back).kernels, GpuKernels::nccl);
  EXPECT_EQ(std::get<GpuCase>(back).launch, 7);
  EXPECT_EQ(ranks_of(back), 3);
  EXPECT_EQ(case_of(back), &std::get<GpuCase>(back).c);
}

TEST(OrderJson, WhoHasWhichGpuComesBack) {
  const std::vector<RankGpu> gpus{
      {.rank = 0, .host = "a", .device = "GPU \"x\""},
      {.rank = 1, .host = "b", .reason = "no driver", .library = "NCCL 2"}};
  const nlohmann::json sent = to_json(MpiAnswer{gpus});
  const MpiAnswer back = answer_from_json(through_text(sent));
  ASSERT_EQ(std::get<std::vector<RankGpu>>(back).size(), 2u);
  EXPECT_EQ(std::get<std::vector<RankGpu>>(back)[1].reason, "no driver");
  EXPECT_EQ(to_json(back), sent);
}

TEST(OrderJson, LinksComeBackBitForBit) {
  const std::vector<PairLink> links{{.first = 3,
                                     .second = 1,
                                     .first_host = "a \"b\"",
                                     .second_host = "",
                                     .flag = Seconds{1.0 / 3.0},
                                     .copy_gb_per_s = 0.1,
                                     .shared_gb_per_s = 1e-9},
                                    {}};
  const nlohmann::json sent = to_json(MpiAnswer{links});
  const MpiAnswer back = answer_from_json(through_text(sent));
  ASSERT_EQ(std::get<std::vector<PairLink>>(back).size(), 2u);
  EXPECT_EQ(std::get<std::vector<PairLink>>(back)[0].flag, Seconds{1.0 / 3.0});
  EXPECT_EQ(to_json(back), sent);
}

TEST(OrderJson, AResultIsNoListOfLinks) {
  const MpiAnswer back = answer_from_json(
      through_text(to_json(MpiAnswer{CaseResult{.implementation = "x", .algorithm = "ring"}})));
  EXPECT_EQ(std::get<CaseResult>(back).algorithm, "ring");
}

TEST(OrderJson, WhatIsNoOrderIsRefused) {
  EXPECT_THROW((void)order_from_json({{"cases", 1}}), nlohmann::json::exception);
}

}  // namespace
}  // namespace collmark
