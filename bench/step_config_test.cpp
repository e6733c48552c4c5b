#include "bench/step_config.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "collectives/error.hpp"

namespace collmark {
namespace {

StepConfig config_of(std::vector<const BucketPolicy*> policies) {
  return {.models = {std::make_shared<ModelList>(load_model("resnet18"))},
          .policies = std::move(policies),
          .caps = {Bytes{1 << 20}, Bytes{4 << 20}, Bytes{16 << 20}},
          .algorithms = {"ring", "two_shot"},
          .ranks = {2, 4}};
}

TEST(StepConfig, APolicyWithoutACap_IsMeasuredOncePerAlgorithmAndRanks) {
  const auto cases = step_cases(config_of({&bucket_policy("ddp"), &bucket_policy("single")}));
  EXPECT_EQ(cases.size(), 3U * 2 * 2 + 2 * 2);
  for (const StepCase& c : cases)
    EXPECT_EQ(c.config.cap.has_value(), c.policy->name == "ddp") << c.policy->name;
  const auto sentences = remarks(config_of({&bucket_policy("single")}));
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(sentences[0], "single has no cap: measured once.");
}

TEST(StepConfig, Plan_HoldsEveryCaseOncePerLaunch_InAnOrderThatTheSeedDecides) {
  StepConfig config = config_of({&bucket_policy("ddp")});
  config.launches = 3;
  const auto order = [](const std::vector<PlannedStep>& plan) {
    std::vector<std::tuple<int, std::int64_t, std::string, int>> all;
    for (const PlannedStep& p : plan)
      all.emplace_back(p.launch, p.c.config.cap->value, p.c.algorithm, p.c.ranks());
    return all;
  };
  const auto plan = plan_steps(config);
  const auto once = order(plan);
  EXPECT_EQ(once.size(), 36U);
  EXPECT_EQ(std::set(once.begin(), once.end()).size(), 36U);
  for (std::size_t i = 0; i < plan.size(); ++i) EXPECT_EQ(plan[i].seq, static_cast<int>(i));
  EXPECT_EQ(order(plan_steps(config)), once) << "the same seed, the same order";
  config.seed = 2;
  EXPECT_NE(order(plan_steps(config)), once);
}

TEST(StepConfig, EveryTuningIsACaseOfItsOwnOnCuda_OnThreadsThereIsNone) {
  StepConfig config = config_of({&bucket_policy("ddp")});
  const std::size_t once = step_cases(config).size();
  config.tunings = {{}, {.channels = 8}};
  EXPECT_EQ(step_cases(config).size(), once);
  config.backend = "cuda";
  std::map<GpuTuning, std::size_t> planned;
  for (const StepCase& c : step_cases(config)) ++planned[c.tuning];
  EXPECT_EQ(planned, (std::map<GpuTuning, std::size_t>{{{}, once}, {{.channels = 8}, once}}));
  EXPECT_EQ(to_json(config).at("channels"), (nlohmann::json{"auto", 8}));
}

TEST(StepConfig, SplitIndices_ReachMindsporeIndexOnly) {
  StepConfig config = config_of({&bucket_policy("mindspore_index"), &bucket_policy("single")});
  config.split_after = {10, 30};
  for (const StepCase& c : step_cases(config))
    EXPECT_EQ(c.config.split_after.size(), c.policy->name == "single" ? 0U : 2U);
  config.policies = {&bucket_policy("single")};
  EXPECT_THROW((void)step_cases(config), Error);
}

TEST(StepConfig, NamesOfALibrary_AreKnownToNcclAlone) {
  StepConfig config = config_of({&bucket_policy("ddp")});
  config.algorithms = {"library", "library:tree/LL128", "ring"};
  EXPECT_THROW((void)step_cases(config), Error) << "threads have no library";
  config.backend = "nccl";
  EXPECT_EQ(step_cases(config).size(), 3U * 2 * 3);
  config.algorithms = {"library:rnig"};
  EXPECT_THROW((void)step_cases(config), Error);
}

TEST(StepConfig, Json_TellsTwoConfigurationsApart) {
  const StepConfig config = config_of({&bucket_policy("ddp")});
  StepConfig other = config;
  other.caps.pop_back();
  EXPECT_EQ(to_json(config), to_json(config));
  EXPECT_NE(to_json(config), to_json(other));
  EXPECT_EQ(to_json(config).at("model").at(0).at("bytes"), 46'758'048);
}

}  // namespace
}  // namespace collmark
