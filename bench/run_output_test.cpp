#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bench/config_file.hpp"
#include "bench/csv_file.hpp"
#include "bench/run_record.hpp"
#include "bench/sweep_comparison.hpp"
#include "bench/sweep_table.hpp"
#include "bench/test_hooks.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

/// A folder of its own for each test.
class InFolder : public testing::Test {
 protected:
  InFolder() {
    std::string name = testing::TempDir() + "collmark_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~InFolder() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const char* name) const { return folder_ / name; }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }

 private:
  std::filesystem::path folder_;
};

/// What an Error said, or nothing.
template <class F>
std::string complaint(ErrorKind kind, F f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  return "";
}

using CsvFileTest = InFolder;

TEST_F(CsvFileTest, GrowsByRows) {
  const std::string csv = path("x.csv");
  CsvFile::create(csv, "a,b\n").append("1,2\n3,4\n");
  CsvFile::extend(csv, "a,b\n").append("5,6\n");
  EXPECT_EQ(text_of(csv), "a,b\n1,2\n3,4\n5,6\n");
}

TEST_F(CsvFileTest, ExistingFileIsNotCreatedAnew) {
  const std::string csv = path("x.csv");
  write(csv, "mine\n");
  EXPECT_NE(complaint(ErrorKind::usage, [&] { (void)CsvFile::create(csv, "a\n"); }), "");
  EXPECT_EQ(text_of(csv), "mine\n");
}

TEST_F(CsvFileTest, HalfARowIsCutOffBeforeItIsExtended) {
  const std::string csv = path("x.csv");
  write(csv, "a,b\n1,2\n3");
  CsvFile::extend(csv, "a,b\n").append("5,6\n");
  EXPECT_EQ(text_of(csv), "a,b\n1,2\n5,6\n");
}

TEST_F(CsvFileTest, FullDeviceIsSeenAtTheHeader) {
  EXPECT_NE(complaint(ErrorKind::usage, [] { (void)CsvFile::create("/dev/full", "a\n"); }), "");
}

TEST(RunRecord, LiesBesideTheCsv) {
  EXPECT_EQ(run_record_path("x.csv"), "x.run.json");
  EXPECT_EQ(run_record_path("dir.csv/x"), "dir.csv/x.run.json");
}

TEST(RunRecord, FirstDifferenceOfTwoConfigurationsIsNamed) {
  const nlohmann::json one{{"dtype", "f32"}, {"seed", 1}};
  EXPECT_EQ(difference(one, one), "");
  EXPECT_EQ(difference(one, {{"dtype", "f64"}, {"seed", 1}}), "dtype was \"f32\", is now \"f64\"");
  EXPECT_EQ(difference(one, {{"dtype", "f32"}}), "seed was 1, is now not set");
}

using RunRecordFile = InFolder;

TEST_F(RunRecordFile, BadOnesAreRefusedWithTheirLine) {
  const std::string json = path("x.run.json");
  const auto read = [&] { (void)read_run_record(json); };
  EXPECT_NE(complaint(ErrorKind::usage, read).find("cannot read"), std::string::npos);
  write(json, "{\n  \"run_id\": \"a\",\n  oops\n}\n");
  EXPECT_NE(complaint(ErrorKind::usage, read).find("x.run.json:3:"), std::string::npos);
  write(json, "{\"run_id\": \"a\"}");
  EXPECT_NE(complaint(ErrorKind::usage, read).find("expected a key"), std::string::npos);
}

TEST(Noise, QuietHostHasNoComplaint_EachDisturbanceIsNamed) {
  const Noise quiet{.spread = 0.02, .load = 0.3, .steal = 0.0, .governor = "performance"};
  EXPECT_EQ(quiet.complaint(2), "");
  const Noise loud{.spread = 0.5, .load = 9.0, .steal = 0.25, .governor = "powersave"};
  EXPECT_EQ(
      loud.complaint(2),
      "fixed work varies by 50 %, load 9.0 on 2 cores, the hypervisor takes 25 % of the time, "
      "frequency governor powersave");
}

Record timed_record(std::string algorithm, int ranks, double seconds) {
  Record r;
  r.backend = "threads";
  r.c.algorithm = algorithm;
  r.c.ranks = ranks;
  r.c.count = {1024};
  r.result.algorithm = algorithm;
  r.result.wire_busiest = Bytes{6144};
  r.wire_formula = Bytes{6144};
  r.result.measurement.time = summarise(std::vector<double>(10, seconds));
  return r;
}

TEST(SweepTable, ShowsTimeBandwidthAndBytesBesideTheirFormula) {
  SweepConfig config;
  config.algorithms = {"ring"};
  const SweepTable table(config);
  EXPECT_EQ(
      table.header(),
      "ranks      size  algorithm      time    +-   algbw   busbw   busiest rank        formula  "
      "result\n"
      "                                         %    GB/s    GB/s        B moved              B\n");
  EXPECT_EQ(table.row(timed_record("ring", 4, 2e-6)),
            "    4     4 KiB  ring           2 us     0    2.05    3.07          6,144          "
            "6,144  verified\n");
}

TEST(SweepTable, WhatHasMoreThanOneValueGetsAColumn) {
  SweepConfig config;
  config.dtypes = {Dtype::f32, Dtype::bf16};
  config.launches = 3;
  const std::string header = SweepTable(config).header();
  EXPECT_NE(header.find("dtype"), std::string::npos);
  EXPECT_NE(header.find("launch"), std::string::npos);
  EXPECT_EQ(header.find("cache"), std::string::npos);
}

TEST(SweepTable, ReasonStandsWhereTheResultWouldBe) {
  SweepConfig config;
  config.algorithms = {"swing"};
  Record r = timed_record("swing", 3, 1e-6);
  r.result.status = Status::skipped;
  r.result.reason = "swing needs a power of two";
  const std::string row = SweepTable(config).row(r);
  EXPECT_NE(row.find("skipped: swing needs a power of two"), std::string::npos);
  EXPECT_EQ(row.find("us"), std::string::npos);
}

TEST(SweepComparison, FastestIsMarkedWhereRanksDifferAndHaveCoresOfTheirOwn) {
  const std::string text =
      comparison({timed_record("ring", 4, 3e-6), timed_record("two_shot", 4, 2e-6)});
  EXPECT_EQ(text,
            "\nall_reduce on threads, 4 ranks, f32 sum, in_place, touched, latency\n"
            " size  ring  two_shot\n"
            "4 KiB  3 us    2 us *\n"
            "* the fastest of its line\n");
  // With two ranks all good algorithms move the same bytes between the same two.
  EXPECT_EQ(
      comparison({timed_record("ring", 2, 3e-6), timed_record("two_shot", 2, 2e-6)}).find('*'),
      std::string::npos);
  Record crowded = timed_record("ring", 4, 3e-6);
  crowded.result.oversubscribed = true;
  EXPECT_EQ(comparison({crowded, timed_record("two_shot", 4, 2e-6)}).find('*'), std::string::npos);
}

Record tuned_record(std::string algorithm, GpuTuning tuning, double seconds) {
  Record r = timed_record(std::move(algorithm), 4, seconds);
  r.backend = "cuda";
  r.c.tuning = tuning;
  return r;
}

TEST(SweepTable, KnobsThatAreTurnedGetAColumnEach_AndSayNothingOfOtherBackends) {
  SweepConfig config;
  config.backends = {"threads", "cuda"};
  config.algorithms = {"ring"};
  config.tunings = {{.threads = 256}, {.channels = 8, .threads = 256}};
  const SweepTable table(config);
  EXPECT_TRUE(table.header().starts_with("backend  ranks      size  algorithm  channels      time"))
      << table.header();
  const auto row = [&](const Record& r) { return table.row(r).substr(0, 55); };
  EXPECT_EQ(row(tuned_record("ring", config.tunings[0], 2e-6)),
            "cuda         4     4 KiB  ring           auto      2 us");
  EXPECT_EQ(row(tuned_record("ring", config.tunings[1], 2e-6)),
            "cuda         4     4 KiB  ring              8      2 us");
  EXPECT_EQ(row(timed_record("ring", 4, 2e-6)),
            "threads      4     4 KiB  ring                     2 us");
  config.backends = {"threads"};
  EXPECT_EQ(SweepTable(config).header().find("channels"), std::string::npos);
}

TEST(SweepComparison, TuningsAreLinesOfTheirOwn_AndTheFastestOfASizeIsMarked) {
  const GpuTuning one{.threads = 256}, other{.channels = 16, .threads = 256},
      third{.channels = 8, .threads = 256};
  EXPECT_EQ(comparison({tuned_record("ring", one, 4e-6), tuned_record("ring", other, 1e-6),
                        tuned_record("two_shot", other, 3e-6), tuned_record("ring", third, 2e-6),
                        tuned_record("ring", third, 2e-6), tuned_record("two_shot", one, 3e-6)}),
            "\nall_reduce on cuda, 4 ranks, f32 sum, in_place, touched, latency\n"
            " size  channels    ring  two_shot\n"
            "4 KiB      auto    4 us      3 us\n"
            "4 KiB         8    2 us         -\n"
            "4 KiB        16  1 us *      3 us\n"
            "* the fastest of its size\n");
}

TEST(SweepComparison, TwoTuningsOfOneAlgorithmAreCompared_OneIsNot) {
  const Record one = tuned_record("ring", {.slots = 2}, 4e-6);
  EXPECT_EQ(comparison({one, one}), "");
  EXPECT_NE(comparison({one, tuned_record("ring", {.slots = 4}, 4e-6)}).find("slots"),
            std::string::npos);
}

TEST(SweepComparison, OneAlgorithmIsNotComparedAndFailuresDoNotCount) {
  EXPECT_EQ(comparison({timed_record("ring", 4, 3e-6)}), "");
  Record wrong = timed_record("two_shot", 4, 1e-9);
  wrong.result.status = Status::failed;
  EXPECT_EQ(comparison({timed_record("ring", 4, 3e-6), wrong}), "");
}

using ConfigFileTest = InFolder;

TEST_F(ConfigFileTest, SetsFlagsUnlessTheCommandLineDid) {
  const std::string toml = path("c.toml");
  write(toml, "ranks = [2, 4]\n[sweep]\nlaunches = 3\nresume = true\n[step]\nsurplus = 1\n");
  CLI::App command("", "sweep");
  std::string ranks;
  int launches = 1;
  bool resume = false;
  command.add_option("--ranks", ranks);
  command.add_option("--launches", launches);
  command.add_flag("--resume", resume);
  command.parse(std::vector<std::string>{"7", "--launches"});  // CLI11 takes words from the back
  (void)ConfigFile(command, toml);
  EXPECT_EQ(ranks, "2,4");
  EXPECT_EQ(launches, 7);
  EXPECT_TRUE(resume);
}

TEST_F(ConfigFileTest, UnknownKeyIsRefusedWithItsLineAndASuggestion) {
  const std::string toml = path("c.toml");
  write(toml, "\n# a comment\nrnaks = 2\n");
  CLI::App command("", "sweep");
  std::string ranks;
  command.add_option("--ranks", ranks);
  const std::string said = complaint(ErrorKind::usage, [&] { (void)ConfigFile(command, toml); });
  EXPECT_NE(said.find("c.toml:3: 'rnaks' is not a flag of sweep (did you mean 'ranks'?)"),
            std::string::npos)
      << said;
}

TEST_F(ConfigFileTest, AKeyThatIsSetTwiceIsRefusedWithBothLines) {
  for (const char* text : {"ranks = [2]\nranks = [4]\n", "ranks = 2\n[sweep]\nranks = 4\n"}) {
    const std::string toml = path("c.toml");
    write(toml, text);
    CLI::App command("", "sweep");
    std::string ranks;
    command.add_option("--ranks", ranks);
    const std::string said = complaint(ErrorKind::usage, [&] { (void)ConfigFile(command, toml); });
    EXPECT_NE(said.find(": 'ranks' is set a second time; line 1 has it already"), std::string::npos)
        << said;
  }
}

TEST_F(ConfigFileTest, TheSameKeyForAnotherCommandIsNoSecondOne) {
  const std::string toml = path("c.toml");
  write(toml, "[step]\nranks = 4\n[sweep]\nranks = 2\n");
  CLI::App command("", "sweep");
  std::string ranks;
  command.add_option("--ranks", ranks);
  (void)ConfigFile(command, toml);
  EXPECT_EQ(ranks, "2");
}

TEST(TestHooks, OnlyNumbersAreTaken) {
  setenv("COLLMARK_TEST_CORRUPT", "1@x", 1);
  EXPECT_NE(complaint(ErrorKind::usage, [] { (void)test_hooks_from_environment(); }), "");
  setenv("COLLMARK_TEST_CORRUPT", "1@57", 1);
  EXPECT_EQ(test_hooks_from_environment().corrupt_call, 57);
  unsetenv("COLLMARK_TEST_CORRUPT");
  EXPECT_FALSE(test_hooks_from_environment().corrupt_rank);
}

}  // namespace
}  // namespace collmark
