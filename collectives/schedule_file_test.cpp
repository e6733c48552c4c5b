#include "collectives/schedule_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    (void)parse_schedule(text, "a.json");
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    return e.what();
  }
  ADD_FAILURE() << "accepted " << text;
  return "";
}

/// A file of two ranks and two chunks whose only transfer is `transfer`.
std::string with_transfer(const std::string& transfer) {
  return R"({"format": "collmark-schedule", "version": 1, "collective": "all_reduce", "ranks": 2, "chunks": 2,
             "steps": [[], [)" +
         transfer + "]]}";
}

std::string with_frame(const std::string& rest) {
  return R"({"format": "collmark-schedule", "version": 1, )" + rest + "}";
}

TEST(ScheduleFile, EveryAlgorithmReadsBackAsWritten) {
  for (const Algorithm& a : catalogue()) {
    for (const int ranks : {1, 2, 4, 8}) {
      const Schedule s = build(a.collective, a.name, ranks);
      const Schedule back = parse_schedule(to_json(s), "a.json");
      EXPECT_EQ(back.collective, s.collective);
      EXPECT_EQ(back.ranks, s.ranks);
      EXPECT_EQ(back.chunks, s.chunks);
      EXPECT_EQ(back.root, s.root);
      EXPECT_EQ(back.servers, s.servers);
      ASSERT_EQ(back.steps, s.steps);
      for (int t = 0; t < s.steps; ++t)
        EXPECT_EQ(transfers(back, t), transfers(s, t)) << a.name << " step " << t;
    }
  }
}

TEST(ScheduleFile, WhatMayBeLeftOutHasItsStatedDefault) {
  const Schedule s = parse_schedule(
      with_transfer(R"({"src": 0, "dst": 1, "src_chunk": 1, "verb": "reduce"})"), "a");
  EXPECT_EQ(s.root, 0);
  EXPECT_EQ(s.servers, 0);
  EXPECT_EQ(transfers(s, 1), std::vector<Transfer>({Reduce{.src = 0, .dst = 1, .chunk = 1}}));
  const Schedule barrier =
      parse_schedule(with_transfer(R"({"src": 0, "dst": 1, "verb": "signal"})"), "a");
  EXPECT_EQ(transfers(barrier, 1), std::vector<Transfer>({Signal{.src = 0, .dst = 1}}));
}

TEST(ScheduleFile, FaultyTransfersAreRefusedByStepAndTransfer) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"src": 2, "dst": 1, "src_chunk": 0, "verb": "copy"})",
       "'src' must be a whole number from 0 to 1, not 2"},
      {R"({"src": -1, "dst": 1, "src_chunk": 0, "verb": "copy"})", "from 0 to 1, not -1"},
      {R"({"src": 0.0, "dst": 1, "src_chunk": 0, "verb": "copy"})", "from 0 to 1, not 0.0"},
      {R"({"src": "0", "dst": 1, "src_chunk": 0, "verb": "copy"})", "not \"0\""},
      {R"({"src": 99999999999999999999, "dst": 1, "src_chunk": 0, "verb": "copy"})", "not 1e+20"},
      {R"({"src": 4294967296, "dst": 1, "src_chunk": 0, "verb": "copy"})", "not 4294967296"},
      {R"({"src": 0, "dst": 1, "src_chunk": 2, "verb": "copy"})", "'src_chunk' must be"},
      {R"({"src": 0, "dst": 1, "src_chunk": 1, "count": 2, "verb": "copy"})", "'count' must be"},
      {R"({"src": 0, "dst": 1, "src_chunk": 0, "count": 0, "verb": "copy"})", "from 1 to 2, not 0"},
      {R"({"src": 0, "dst": 1, "src_chunk": 0, "dst_chunk": 1, "count": 2, "verb": "copy"})",
       "from 1 to 1"},
      {R"({"src": 0, "dst": 1, "count": 1, "verb": "signal"})", "from 0 to 0, not 1"},
      {R"({"src": 0, "dst": 1, "src_chunk": 0, "verb": "add"})",
       "unknown verb 'add'; there are: copy, reduce, signal"},
      {R"({"src": 0, "dst": 1, "src_chunk": 0})", "key 'verb' is missing"},
      {R"({"dst": 1, "src_chunk": 0, "verb": "copy"})", "key 'src' is missing"},
      {R"({"src": 0, "dst": 1, "verb": "copy"})", "key 'src_chunk' is missing"},
      {R"({"src": 0, "dst": 1, "scr_chunk": 0, "verb": "copy"})",
       "'scr_chunk' (did you mean 'src_chunk'?)"},
      {R"({"src": 0, "src": 1, "dst": 1, "src_chunk": 0, "verb": "copy"})",
       "key 'src' is there twice"},
      {R"([0, 1])", "expected an object"},
      {"null", "expected an object"},
  };
  for (const auto& [transfer, expected] : cases)
    EXPECT_THAT(refusal(with_transfer(transfer)),
                testing::AllOf(HasSubstr("a.json: step 1, transfer 0: "), HasSubstr(expected)));
}

TEST(ScheduleFile, FaultyFramesAreRefused) {
  const std::pair<std::string, const char*> cases[] = {
      {"[]", "expected an object"},
      {"{}", "key 'format' is missing"},
      {R"({"format": "else"})", "'format' must be \"collmark-schedule\""},
      {R"({"format": "collmark-schedule", "version": 2})", "'version' must be"},
      {with_frame(R"("collective": "allreduce")"), "'allreduce' (did you mean 'all_reduce'?)"},
      {with_frame(R"("collective": "reduce", "ranks": 0)"), "'ranks' must be"},
      {with_frame(R"("collective": "reduce", "ranks": 2000000000)"), "from 1 to 65536"},
      {with_frame(R"("collective": "reduce", "ranks": 65536, "chunks": 65536)"),
       "'chunks' must be"},
      {with_frame(R"("collective": "reduce", "ranks": 2, "chunks": 1, "root": 2)"),
       "'root' must be"},
      {with_frame(R"("collective": "reduce", "ranks": 2, "chunks": 1, "servers": 2)"),
       "'servers' must be"},
      {with_frame(R"("collective": "all_to_all", "ranks": 2, "chunks": 2, "steps": [])"),
       "2 x ranks = 4 chunks"},
      {with_frame(R"("collective": "reduce", "ranks": 2, "chunks": 1)"), "key 'steps' is missing"},
      {with_frame(R"("collective": "reduce", "ranks": 2, "chunks": 1, "steps": {})"),
       "'steps' must be an array"},
      {with_frame(R"("collective": "reduce", "ranks": 2, "chunks": 1, "steps": [7])"),
       "a.json: step 0: expected"},
      {with_frame(R"("collective": "reduce", "ranks": 2, "chunks": 1, "step": [])"),
       "(did you mean 'steps'?)"},
      {with_frame(R"("ranks": 2, "ranks": 3)"), "a.json: key 'ranks' is there twice"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_THAT(refusal(text), testing::AllOf(HasSubstr("a.json"), HasSubstr(expected)));
}

TEST(ScheduleFile, BrokenJson_IsRefusedWithLineAndColumn) {
  EXPECT_THAT(refusal("{\n  \"format\" = 1}"), HasSubstr("a.json:2:12: not valid JSON here"));
  EXPECT_THAT(refusal(std::string("\0\0", 2)), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal("\x7f\x45LF"), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal(std::string("{\"\xff\": 1}")), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal(""), HasSubstr("ends in the middle"));
  EXPECT_THAT(refusal(std::string(100'000, '[')), HasSubstr("ends in the middle"));
}

TEST(ScheduleFile, CutOffAnywhere_IsRefusedWhole) {
  const std::string whole = to_json(build(Collective::all_reduce, "ring", 3));
  for (std::size_t size = 0; size + 2 < whole.size(); ++size)  // the last byte is a newline
    EXPECT_THROW((void)parse_schedule(whole.substr(0, size), "a.json"), Error) << size;
}

TEST(ScheduleFile, AnyChangedByte_IsReadOrRefusedButNeverLeavesTheRange) {
  const std::string whole = to_json(build(Collective::all_reduce, "ring", 2));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char c : {'0', '9', '-', '"', '}', ']', ',', '\xff'}) {
      std::string changed = whole;
      changed[at] = c;
      try {
        const Schedule s = parse_schedule(changed, "a.json");
        for (int t = 0; t < s.steps; ++t)
          for (const Transfer& x : transfers(s, t)) {
            EXPECT_LT(std::max(x.src, x.dst), s.ranks);
            EXPECT_LE(std::max(x.src_chunk, x.dst_chunk) + x.count, s.chunks);
          }
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
      }
    }
  }
}

TEST(ScheduleFile, NoFile_IsRefusedWithItsPath) {
  for (const char* path : {"/no/such/file.json", "/"}) {
    try {
      (void)read_schedule(path);
      FAIL() << "read " << path;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      EXPECT_THAT(e.what(), HasSubstr(fmt::format("{}: cannot be read", path)));
    }
  }
}

TEST(ScheduleFile, EndlessFile_IsRefusedAndNotReadToTheEnd) {
  EXPECT_THROW((void)read_schedule("/dev/zero"), Error);
}

TEST(ScheduleFile, OtherCollectiveIsAnErrorOtherRanksAreASkippedRow) {
  const std::string path = testing::TempDir() + "schedule_file_test.json";
  std::ofstream(path) << to_json(build(Collective::all_reduce, "ring", 3));
  EXPECT_EQ(build(Collective::all_reduce, "file:" + path, 3).steps, 4);
  EXPECT_THROW((void)schedule_for(path, Collective::all_reduce, 4), Unsupported);
  try {
    (void)schedule_for(path, Collective::reduce_scatter, 3);
    FAIL() << "accepted another collective";
  } catch (const Unsupported&) {
    FAIL() << "another collective would be skipped silently";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("is a schedule of all_reduce, not of reduce_scatter"));
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace collmark
