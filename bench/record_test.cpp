#include "bench/record.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/csv_reader.hpp"
#include "bench/samples.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

TEST(Record, HeaderIsTheContract) {
  EXPECT_EQ(
      csv_header(),
      "schema,run_id,launch,seq,time_utc,machine,backend,implementation,collective,algorithm,"
      "ranks,nodes,size_bytes,count,dtype,op,root,placement,bucket_bytes,chunk_bytes,warmups,"
      "iterations,stop_reason,time_us_min,time_us_p50,time_us_ci_low,time_us_ci_high,"
      "time_us_mean,time_us_p95,time_us_p99,time_us_max,algbw_gb_per_s,busbw_gb_per_s,"
      "wire_bytes_busiest,wire_bytes_formula,rounds,messages_busiest,model_us,mode,cache,pages,"
      "batch,flag_ns,disturbed,late_starts,oversubscribed,wrong,status,reason,"
      "flag_after_ns,device,devices,tuning,sm_mhz,sm_after_mhz,memory_mhz,memory_after_mhz,power_w,"
      "power_after_w,temperature_c,temperature_after_c,throttled,asked_tuning\n");
}

/// 1 MiB of f32 all-reduced by 4 ranks in 8 us.
Record example() {
  Record r{.run_id = "20261129T190500-3f9c",
           .launch = 2,
           .seq = 17,
           .time_utc = "2026-11-29T19:05:00Z",
           .machine = "host",
           .backend = "threads",
           .c = {.ranks = 4, .count = {1 << 18}},
           .result = {},
           .wire_formula = Bytes{1572864},
           .model = Seconds{9.5e-6}};
  r.result.implementation = "collmark";
  r.result.algorithm = "ring";
  r.result.chunk = Bytes{1 << 18};
  r.result.wire_busiest = Bytes{1572864};
  r.result.messages_busiest = 6;
  r.result.rounds = 6;
  r.result.flag_ns = 58.25;
  r.result.flag_after_ns = 60.0;
  r.result.pages = "huge";
  Measurement& m = r.result.measurement;
  m.warmups = 10;
  m.stop_reason = StopReason::interval;
  m.ranks = 4;
  m.time = summarise({7e-6, 8e-6, 8e-6, 8e-6, 8e-6, 8e-6, 9.25e-6});
  m.disturbed = 1;
  return r;
}

TEST(Record, RowOfACaseThatRan) {
  EXPECT_EQ(
      csv_row(example()),
      "1,20261129T190500-3f9c,2,17,2026-11-29T19:05:00Z,host,threads,collmark,all_reduce,ring,"
      "4,1,1048576,262144,f32,sum,,in_place,,262144,10,7,interval,7,8,7,9.25,8.03571,8.875,,"
      "9.25,131.072,196.608,1572864,1572864,6,6,9.5,latency,touched,huge,1,58.25,1,0,0,0,ok,,"
      "60,,,,,,,,,,,,,\n");
}

TEST(Record, OfAGpuNamesTheDeviceAndHowItsKernelsWereTuned) {
  Record r = example();
  r.result.device = "NVIDIA H100";
  r.result.devices = 2;
  r.result.tuning = "channels=8 threads=512";
  const CsvTable table = CsvTable::parse(csv_header() + csv_row(r), "x.csv");
  EXPECT_EQ(table.cell(0, "device"), "NVIDIA H100");
  EXPECT_EQ(table.cell(0, "devices"), "2");
  EXPECT_EQ(table.cell(0, "tuning"), "channels=8 threads=512");
}

TEST(Record, WhatWasAskedOfKernelsIsInTheRowOfACaseThatDidNotRun) {
  Record r = example();
  r.c.tuning = {.channels = 4096, .slot = Bytes{1 << 14}};
  r.result = {.status = Status::skipped, .reason = "too many blocks"};
  const CsvTable table = CsvTable::parse(csv_header() + csv_row(r), "x.csv");
  EXPECT_EQ(table.cell(0, "asked_tuning"), "channels=4096 slot_bytes=16384");
  EXPECT_EQ(table.cell(0, "tuning"), "");
}

TEST(Record, WhatHeldTheClocksOfAGpuBackBeforeOrAfterIsInTheRow) {
  Record r = example();
  r.result.gpu_before = {.sm_mhz = 345, .celsius = 30, .held_back = 1};
  r.result.gpu_after = {.sm_mhz = 1980, .watts = 699.5, .held_back = 4};
  const CsvTable table = CsvTable::parse(csv_header() + csv_row(r), "x.csv");
  EXPECT_EQ(table.cell(0, "sm_mhz"), "345");
  EXPECT_EQ(table.cell(0, "sm_after_mhz"), "1980");
  EXPECT_EQ(table.cell(0, "power_w"), "");
  EXPECT_EQ(table.cell(0, "power_after_w"), "699.5");
  EXPECT_EQ(table.cell(0, "temperature_c"), "30");
  EXPECT_EQ(table.cell(0, "throttled"), "sw_power_cap");
}

TEST(Record, SkippedCaseHasItsIdentityAndReasonAndNoNumbers) {
  Record r = example();
  r.result = {};
  r.result.status = Status::skipped;
  r.result.reason = "needs 4 GiB, of memory, \"2 GiB\" are available";
  r.result.algorithm = "ring";
  r.wire_formula = {};
  r.model = {};
  EXPECT_EQ(csv_row(r),
            "1,20261129T190500-3f9c,2,17,2026-11-29T19:05:00Z,host,threads,,all_reduce,ring,4,1,"
            "1048576,262144,f32,sum,,in_place,,,,,,,,,,,,,,,,,,,,,latency,touched,,,,,,0,,skipped,"
            "\"needs 4 GiB, of memory, \"\"2 GiB\"\" are available\",,,,,,,,,,,,,,\n");
}

TEST(Record, FailedCaseWithoutAResultToLookAt_SaysNothingOfWrongElements) {
  Record r = example();
  r.result = {.status = Status::failed, .reason = "timed out: rank 0 waits for rank 1"};
  const CsvTable table = CsvTable::parse(csv_header() + csv_row(r), "x.csv");
  EXPECT_EQ(table.cell(0, "wrong"), "");
  EXPECT_EQ(table.cell(0, "iterations"), "");
}

TEST(Record, BandwidthsAreEmptyWhereNothingMoves) {
  Record r = example();
  r.c.count = {0};
  EXPECT_FALSE(algbw(r));
  r = example();
  r.c.ranks = 1;  // no factor
  EXPECT_TRUE(algbw(r));
  EXPECT_FALSE(busbw(r));
}

TEST(Record, OperatorAndRootAreOnlyWhereTheyMeanSomething) {
  Record r = example();
  r.c.collective = Collective::broadcast;
  const CsvTable table = CsvTable::parse(csv_header() + csv_row(r), "x.csv");
  EXPECT_EQ(table.cell(0, "op"), "");
  EXPECT_EQ(table.cell(0, "root"), "0");
}

TEST(Samples, OneLinePerReadingAndRank) {
  Record r = example();
  r.result.measurement.ranks = 2;
  r.result.measurement.batch = 4;
  r.result.measurement.samples = {{Nanoseconds{100}, false, false},
                                  {Nanoseconds{120}, true, false},
                                  {Nanoseconds{90}, false, true},
                                  {Nanoseconds{95}, false, false}};
  EXPECT_EQ(samples_rows(r),
            "1,20261129T190500-3f9c,2,17,0,0,4,100,0,0\n"
            "1,20261129T190500-3f9c,2,17,0,1,4,120,1,0\n"
            "1,20261129T190500-3f9c,2,17,1,0,4,90,0,1\n"
            "1,20261129T190500-3f9c,2,17,1,1,4,95,0,0\n");
}

TEST(CsvReader, ReadsBackWhatTheWriterQuotes) {
  const std::string cell = "a, \"b\" c";
  const CsvTable table = CsvTable::parse("x,y\n" + csv_cell(cell) + ",1\n", "f.csv");
  EXPECT_EQ(table.cell(0, "x"), cell);
  EXPECT_EQ(table.number(0, "y"), 1.0);
}

TEST(CsvReader, FaultsAreNamedWithFileAndLine) {
  const auto message = [](std::string_view text, auto use) -> std::string {
    try {
      use(CsvTable::parse(text, "f.csv"));
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      return e.what();
    }
    return "";
  };
  const auto nothing = [](const CsvTable&) {};
  EXPECT_NE(message("", nothing).find("f.csv:1: "), std::string::npos);
  EXPECT_NE(message("a,b\n1,2\n3\n", nothing).find("f.csv:3: expected 2 cells"), std::string::npos);
  EXPECT_NE(message("a,b\n1,\"2\n", nothing).find("f.csv:2: "), std::string::npos);
  EXPECT_NE(
      message("a\n1\nnan\n", [](const CsvTable& t) { (void)t.number(1, "a"); }).find("f.csv:3: "),
      std::string::npos);
  EXPECT_NE(message("a\n1\n", [](const CsvTable& t) { (void)t.cell(0, "b"); }).find("column 'b'"),
            std::string::npos);
}

}  // namespace
}  // namespace collmark
