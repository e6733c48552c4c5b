#include "bench/sweep_config.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/sweep_run.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

SweepConfig three_by_two() {
  SweepConfig config;
  config.algorithms = {"ring", "two_shot"};
  config.sizes = {{8}, {64}, {1024}};
  return config;
}

using Point = std::pair<std::string, std::int64_t>;

std::vector<Point> points(const std::vector<PlannedCase>& plan) {
  std::vector<Point> all;
  for (const PlannedCase& p : plan) all.emplace_back(p.c.algorithm, p.c.size().value);
  return all;
}

TEST(SweepPlan, HoldsEveryCaseOncePerLaunch) {
  SweepConfig config = three_by_two();
  config.launches = 4;
  const auto plan = plan_sweep(config);
  ASSERT_EQ(plan.size(), 24u);
  for (int launch = 0; launch < 4; ++launch) {
    std::set<Point> seen;
    for (int i = 0; i < 6; ++i) {
      const PlannedCase& p = plan[static_cast<std::size_t>(launch * 6 + i)];
      EXPECT_EQ(p.launch, launch);
      EXPECT_EQ(p.seq, launch * 6 + i);
      seen.emplace(p.c.algorithm, p.c.size().value);
    }
    EXPECT_EQ(seen.size(), 6u);
  }
}

TEST(SweepPlan, SameSeedSameOrder_OtherSeedOtherOrder) {
  SweepConfig config = three_by_two();
  config.launches = 3;
  const auto first = points(plan_sweep(config));
  EXPECT_EQ(points(plan_sweep(config)), first);
  config.seed = 2;
  EXPECT_NE(points(plan_sweep(config)), first);
}

TEST(SweepPlan, EveryTuningIsACaseOfItsOwnOnCuda_OtherBackendsGetEachCaseOnce) {
  SweepConfig config = three_by_two();
  config.tunings = {{}, {.channels = 8}, {.channels = 8, .threads = 256}};
  config.launches = 2;
  config.backends = {"cuda"};
  EXPECT_EQ(plan_sweep(config).size(), 2u * 3 * 6);
  config.backends = {"threads", "cuda", "mpi", "nccl"};
  config.algorithms = {"ring"};
  std::map<std::size_t, std::map<GpuTuning, int>> planned;
  for (const PlannedCase& p : plan_sweep(config)) ++planned[p.backend][p.c.tuning];
  for (const std::size_t other : {0u, 2u, 3u})
    EXPECT_EQ(planned[other], (std::map<GpuTuning, int>{{{}, 2 * 3}}));
  ASSERT_EQ(planned[1].size(), 3u);
  for (const GpuTuning& tuning : config.tunings) EXPECT_EQ(planned[1][tuning], 2 * 3);
}

TEST(SweepPlan, TuningsCountWhereCasesAreTooMany) {
  SweepConfig config = three_by_two();
  config.backends = {"cuda"};
  config.launches = 100'000;
  EXPECT_EQ(plan_sweep(config).size(), 600'000u);
  config.tunings = {{.channels = 1}, {.channels = 2}};
  EXPECT_THROW((void)plan_sweep(config), Error);
  config.backends = {"threads"};
  EXPECT_EQ(plan_sweep(config).size(), 600'000u);
}

TEST(SweepPlan, AllMeansTheWholeCatalogueOfTheCollective) {
  SweepConfig config = three_by_two();
  config.algorithms = {"all"};
  EXPECT_EQ(plan_sweep(config).size(), 3 * catalogue(Collective::all_reduce).size());
}

TEST(SweepPlan, OperatorsCountOnlyWhereSomethingIsReduced) {
  SweepConfig config = three_by_two();
  config.algorithms = {"ring"};
  config.ops = {ReduceOp::sum, ReduceOp::max};
  EXPECT_EQ(plan_sweep(config).size(), 6u);
  config.collectives = {Collective::all_gather};
  EXPECT_EQ(plan_sweep(config).size(), 3u);
}

TEST(SweepPlan, ARootIsOfCollectivesThatHaveOne) {
  SweepConfig config = three_by_two();
  config.algorithms = {"all"};
  config.collectives = {Collective::all_reduce, Collective::broadcast};
  config.root = 1;
  for (const PlannedCase& p : plan_sweep(config))
    EXPECT_EQ(p.c.root, p.c.collective == Collective::broadcast ? 1 : 0);
  config.collectives = {Collective::all_reduce};
  EXPECT_THROW((void)plan_sweep(config), Error);
}

TEST(SweepPlan, UnknownAlgorithmIsRefused_UnsupportedRanksAreNot) {
  SweepConfig config = three_by_two();
  config.algorithms = {"rnig"};
  EXPECT_THROW((void)plan_sweep(config), Error);
  config.algorithms = {"swing"};
  config.ranks = {3};
  EXPECT_EQ(plan_sweep(config).size(), 3u);
}

TEST(SweepConfig, EveryFieldThatChangesTheRowsIsInItsJson) {
  const nlohmann::json base = to_json(three_by_two());
  const auto changes = [&](auto change) {
    SweepConfig config = three_by_two();
    change(config);
    return to_json(config) != base;
  };
  EXPECT_TRUE(changes([](SweepConfig& c) { c.backends = {"mpi"}; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.collectives = {Collective::reduce}; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.algorithms = {"ring"}; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.ranks = {4}; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.sizes = {{8}}; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.dtypes = {Dtype::f64}; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.ops = {ReduceOp::max}; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.placements = {Placement::out_of_place}; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.caches = {CacheState::cold}; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.modes = {Mode::throughput}; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.root = 1; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.launches = 2; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.tunings = {{.channels = 8}}; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.tunings = {{}, {.channels = 8}}; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.tunings = {{.slot = Bytes{64}}}; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.seed = 2; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.measure.warmups = 3; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.measure.most_iterations = 3; }));
  EXPECT_TRUE(changes([](SweepConfig& c) { c.measure.time_budget = Seconds{3}; }));
}

TEST(SweepConfig, KnobsAreRecordedAsTheirLists_AndNotAtAllWhereTheyAreLeftAlone) {
  SweepConfig config = three_by_two();
  EXPECT_FALSE(to_json(config).contains("channels"));
  config.tunings = {{.slot = Bytes{64}}, {.channels = 8, .slot = Bytes{64}}};
  const nlohmann::json json = to_json(config);
  EXPECT_EQ(json.at("channels"), (nlohmann::json{"auto", 8}));
  EXPECT_EQ(json.at("slot_bytes"), nlohmann::json::array({64}));
  EXPECT_FALSE(json.contains("threads"));
}

TEST(SweepExit, AWrongResultOutweighsAnAbsentBackend_AndNothingMeasuredIsNoSuccess) {
  EXPECT_EQ(exit_status({.ok = 3}, Missing::refused), 0);
  EXPECT_EQ(exit_status({.ok = 3, .wrong = 1}, Missing::refused), 5);
  EXPECT_EQ(exit_status({.ok = 3, .absent = 2, .wrong = 1}, Missing::allowed), 5);
  EXPECT_EQ(exit_status({.ok = 3, .absent = 2, .timed_out = 1}, Missing::allowed), 7);
  EXPECT_EQ(exit_status({.wrong = 1, .timed_out = 1, .lost = 1}, Missing::refused), 5);
  EXPECT_EQ(exit_status({.ok = 3, .skipped = 2, .absent = 2}, Missing::refused), 77);
  EXPECT_EQ(exit_status({.skipped = 2, .absent = 2}, Missing::allowed), 0);
  EXPECT_EQ(exit_status({.skipped = 2}, Missing::refused), 6);
}

TEST(SweepTally, AFailedRowIsCountedByWhatItsReasonBeginsWith) {
  SweepTally tally;
  tally.add(Status::failed, failure(Error(ErrorKind::timed_out, "rank 0 hung")));
  EXPECT_EQ(tally.timed_out, 1);
  tally.add(Status::failed, failure(Error(ErrorKind::lost, "rank 1 is gone")));
  EXPECT_EQ(tally.lost, 1);
  tally.add(Status::failed, "wrong result: rank 0, element 7");
  EXPECT_EQ(tally.wrong, 1);
  tally.add(Status::skipped, "timed out of memory");
  EXPECT_EQ(tally.failed(), 3);
}

}  // namespace
}  // namespace collmark
