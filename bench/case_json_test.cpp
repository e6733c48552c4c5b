#include "bench/case_json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "collectives/error.hpp"

namespace collmark {
namespace {

nlohmann::json through_text(const nlohmann::json& json) {
  return nlohmann::json::parse(json.dump());
}

Case unusual_case() {
  return {.collective = Collective::reduce,
          .algorithm = "file:a \"quoted\" path, with \xc3\xa9.json",
          .ranks = 7,
          .count = {std::int64_t{1} << 33},
          .dtype = Dtype::bf16,
          .op = ReduceOp::avg,
          .root = 3,
          .placement = Placement::out_of_place,
          .measure = {.mode = Mode::throughput,
                      .cache = CacheState::cold,
                      .warmups = 0,
                      .most_iterations = 11,
                      .time_budget = Seconds{0.1},
                      .narrow_enough = 1.0 / 3.0,
                      .timer_call = Seconds{2.3e-8}},
          .tuning = {.channels = 3, .slot = Bytes{std::int64_t{1} << 33}}};
}

CaseResult unusual_result() {
  CaseResult r{.status = Status::failed,
               .reason = "wrong",
               .implementation = "Open MPI 4.1.4",
               .algorithm = "library+divide",
               .nodes = 4,
               .chunk = Bytes{std::int64_t{1} << 40},
               .wire_busiest = Bytes{0},
               .messages_busiest = 12,
               .rounds = 6,
               .flag_ns = 61.7,
               .pages = "huge",
               .oversubscribed = true,
               .link = LinkCost{.alpha = Seconds{1e-5}, .beta = 1.0 / 3.0, .gamma = 2e-11}};
  r.measurement = {
      .warmups = 10,
      .batch = 3,
      .stop_reason = StopReason::time,
      .time = {.n = 2,
               .min = 1e-7,
               .p50 = 0.1,
               .mean = 0.2,
               .p95 = 0.3,
               .max = 1.0 / 3.0,
               .p99 = std::nullopt,
               .interval = Interval{0.05, 0.15}},
      .disturbed = 1,
      .late_starts = 2,
      .check = {.wrong = 5, .first = {.rank = 1, .index = 9, .got = 0.1, .expected = -2.0}},
      .ranks = 1,
      .samples = {{Nanoseconds{123}, true, false}, {Nanoseconds{456}, false, true}}};
  return r;
}

TEST(CaseJson, ACaseComesBackWithAllItsValues) {
  const nlohmann::json sent = to_json(unusual_case());
  const Case back = case_from_json(through_text(sent));
  EXPECT_EQ(to_json(back), sent);
  EXPECT_EQ(back.algorithm, unusual_case().algorithm);
  EXPECT_EQ(back.count, unusual_case().count);
  EXPECT_EQ(back.op, ReduceOp::avg);
  EXPECT_EQ(back.measure.warmups, 0);
  EXPECT_EQ(back.measure.narrow_enough, 1.0 / 3.0);
}

TEST(CaseJson, EveryNameComesBack) {
  Case c;
  for (const Collective collective : kCollectives)
    for (const Dtype dtype : kDtypes)
      for (const ReduceOp op : kReduceOps) {
        c.collective = collective;
        c.dtype = dtype;
        c.op = op;
        const Case back = case_from_json(to_json(c));
        EXPECT_EQ(back.collective, collective);
        EXPECT_EQ(back.dtype, dtype);
        EXPECT_EQ(back.op, op);
        EXPECT_FALSE(back.measure.warmups.has_value());
      }
}

TEST(CaseJson, AResultComesBackWithEverySample) {
  const nlohmann::json sent = to_json(unusual_result());
  const CaseResult back = result_from_json(through_text(sent));
  EXPECT_EQ(to_json(back), sent);
  ASSERT_EQ(back.measurement.samples.size(), 2u);
  EXPECT_EQ(back.measurement.samples[0].time, Nanoseconds{123});
  EXPECT_TRUE(back.measurement.samples[0].disturbed);
  EXPECT_FALSE(back.measurement.samples[0].late);
  EXPECT_TRUE(back.measurement.samples[1].late);
  EXPECT_EQ(back.measurement.time.max, 1.0 / 3.0);
  EXPECT_EQ(back.measurement.time.interval->high, 0.15);
  EXPECT_FALSE(back.measurement.time.p99.has_value());
  EXPECT_EQ(back.wire_busiest, Bytes{0});
  EXPECT_FALSE(back.flag_after_ns.has_value());
  EXPECT_EQ(back.link->alpha, Seconds{1e-5});
  EXPECT_EQ(back.link->beta, 1.0 / 3.0);
}

TEST(CaseJson, WhatConcernsGpusComesBack) {
  CaseResult r;
  r.device = "a GPU";
  r.devices = 3;
  r.tuning = "channels=2";
  r.gpu_before = {.sm_mhz = 1, .watts = 1.0 / 3.0, .held_back = 1ULL << 63};
  const CaseResult back = result_from_json(through_text(to_json(r)));
  EXPECT_EQ(back.device, r.device);
  EXPECT_EQ(back.devices, r.devices);
  EXPECT_EQ(back.tuning, r.tuning);
  EXPECT_EQ(back.gpu_before, r.gpu_before);
  EXPECT_EQ(back.gpu_after, GpuCondition());
}

TEST(CaseJson, AnInfiniteOrUndefinedValueIsReportedAsSuch) {
  CaseResult r;
  r.measurement.check = {.wrong = 1,
                         .first = {.rank = 0,
                                   .index = 0,
                                   .got = std::numeric_limits<double>::quiet_NaN(),
                                   .expected = -std::numeric_limits<double>::infinity()}};
  const CaseResult back = result_from_json(through_text(to_json(r)));
  EXPECT_TRUE(std::isnan(back.measurement.check.first.got));
  EXPECT_EQ(back.measurement.check.first.expected, -std::numeric_limits<double>::infinity());
}

TEST(CaseJson, WhatNobodyHasWrittenIsRefused) {
  nlohmann::json json = to_json(unusual_case());
  json["dtype"] = "f33";
  EXPECT_THROW((void)case_from_json(json), Error);
  EXPECT_THROW((void)case_from_json(nlohmann::json::object()), nlohmann::json::exception);
  EXPECT_THROW((void)result_from_json(nlohmann::json("text")), nlohmann::json::exception);
}

}  // namespace
}  // namespace collmark
