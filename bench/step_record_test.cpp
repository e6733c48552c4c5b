#include "bench/step_record.hpp"

#include <gtest/gtest.h>

#include "bench/csv_reader.hpp"
#include "bench/step_verdict.hpp"

namespace collmark {
namespace {

TEST(StepRecord, HeaderIsThatOfASweepAndThenItsOwn) {
  std::string expected = csv_header();
  expected.back() = ',';
  expected +=
      "model,policy,cap_source,mean,tensors,buckets,planned_bytes,sent_bytes,largest_bucket_bytes,"
      "tail_bytes,tail_us_p50,pack_us_p50,wire_us_p50,unpack_us_p50,gradient_memory_bytes,"
      "bucket_memory_bytes,scratch_memory_bytes\n";
  EXPECT_EQ(step_csv_header(), expected);
}

/// Two tensors in two buckets of one ring over 2 ranks.
StepRecord example(Dtype second) {
  StepCase c{
      .model = std::make_shared<ModelList>(ModelList{
          "tiny", {{.name = "a", .count = {100}}, {.name = "b", .count = {300}, .dtype = second}}}),
      .policy = &bucket_policy("horovod"),
      .config = {.cap = Bytes{1200}, .ranks = 2}};
  StepResult result{.base = {.implementation = "collmark", .algorithm = "ring"}};
  for (const Bucket& bucket : plan_buckets(*c.policy, c.model->tensors, c.config))
    result.buckets.push_back(
        {.bucket = bucket, .sent = bucket.bytes() * 2, .busiest = bucket.bytes(), .messages = 2});
  result.base.measurement.ranks = 2;
  result.base.measurement.time = summarise({1e-6, 2e-6, 3e-6});
  result.phases = {Seconds{0.25e-6}, Seconds{1.5e-6}, Seconds{0.25e-6}};
  result.tail = Seconds{0.5e-6};
  return step_record({.run_id = "id",
                      .launch = 1,
                      .seq = 3,
                      .time_utc = "2026-11-29T19:05:00Z",
                      .machine = "host",
                      .backend = "threads",
                      .c = {},
                      .result = {}},
                     std::move(c), std::move(result));
}

TEST(StepRecord, RowHoldsPlanTrafficAndTimes) {
  const CsvTable row =
      CsvTable::parse(step_csv_header() + step_csv_row(example(Dtype::f32)), "step.csv");
  const auto cell = [&](std::string_view column) { return row.cell(0, column); };
  EXPECT_EQ(cell("size_bytes"), "1600");
  EXPECT_EQ(cell("bucket_bytes"), "1200");
  EXPECT_EQ(cell("cap_source"), "given");
  EXPECT_EQ(cell("mean"), "after_sum");
  EXPECT_EQ(cell("buckets"), "2");
  EXPECT_EQ(cell("sent_bytes"), "3200");
  EXPECT_EQ(cell("wire_bytes_formula"), "1600") << "2K(P-1)/P at P = 2, both buckets";
  EXPECT_EQ(cell("tail_bytes"), "400");
  EXPECT_EQ(cell("time_us_p50"), "2");
  EXPECT_EQ(cell("pack_us_p50"), "0.25");
  EXPECT_EQ(cell("wire_us_p50"), "1.5");
  EXPECT_EQ(cell("algbw_gb_per_s"), "0.8") << "1600 B in 2 us";
}

TEST(StepRecord, MixedDtypes_AreCalledMixedAndCountedInTheirBytes) {
  const CsvTable row =
      CsvTable::parse(step_csv_header() + step_csv_row(example(Dtype::bf16)), "step.csv");
  EXPECT_EQ(row.cell(0, "dtype"), "mixed");
  EXPECT_EQ(row.cell(0, "size_bytes"), "1000");
  EXPECT_EQ(row.cell(0, "algbw_gb_per_s"), "0.5");
}

TEST(StepRecord, OneRowPerBucket_NoneForASkippedStep) {
  StepRecord record = example(Dtype::f32);
  const CsvTable rows =
      CsvTable::parse(bucket_csv_header() + bucket_csv_rows(record), "step.buckets.csv");
  ASSERT_EQ(rows.rows(), 2U);
  EXPECT_EQ(rows.cell(0, "planned_bytes"), "1200") << "b, the last tensor, is ready first";
  EXPECT_EQ(rows.cell(1, "planned_bytes"), "400");
  EXPECT_EQ(rows.cell(1, "wire_bytes_formula"), "400");
  record.result.base.status = record.base.result.status = Status::skipped;
  EXPECT_EQ(bucket_csv_rows(record), "");
  const CsvTable skipped = CsvTable::parse(step_csv_header() + step_csv_row(record), "step.csv");
  EXPECT_EQ(skipped.cell(0, "time_us_p50"), "");
  EXPECT_EQ(skipped.cell(0, "wire_us_p50"), "");
  EXPECT_EQ(skipped.cell(0, "planned_bytes"), "1600") << "what it would have sent";
}

}  // namespace
}  // namespace collmark
