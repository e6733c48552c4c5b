#include "collectives/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "collectives/catalogue.hpp"
#include "collectives/drawing.hpp"
#include "collectives/trace.hpp"
#include "collectives/verify.hpp"

namespace collmark {
namespace {

using testing::HasSubstr;

TEST(Explain, RingOfTwo_IsDrawnMessageByMessage) {
  EXPECT_EQ(explain_steps(build(Collective::all_reduce, "ring", 2)),
            "Every rank starts with a buffer of its own and ends with the sum of all of them.\n"
            "'+c0' = chunk 0, added on arrival; 'c0' = copied. Tables: the ranks whose values are "
            "added up there,\n"
            "sum = all of them, . = nothing yet, * = written in this step.\n"
            "\n"
            "At the start\n"
            "    holds      c0  c1\n"
            "    rank 0      0   0\n"
            "    rank 1      1   1\n"
            "\n"
            "Step 0: every rank sends to the next; 1 of 2 chunks each, added on arrival\n"
            "    0       1\n"
            "    |--+c1->|    rank 1 adds chunk 1 from rank 0\n"
            "    |<-+c0--|    rank 0 adds chunk 0 from rank 1\n"
            "    holds       c0   c1\n"
            "    rank 0     sum*   0\n"
            "    rank 1       1  sum*\n"
            "\n"
            "Step 1: every rank sends to the next; 1 of 2 chunks each, copied\n"
            "    0       1\n"
            "    |--c0-->|    rank 1 takes chunk 0 from rank 0\n"
            "    |<-c1---|    rank 0 takes chunk 1 from rank 1\n"
            "    holds       c0   c1\n"
            "    rank 0     sum  sum*\n"
            "    rank 1     sum* sum\n");
}

TEST(Explain, LargeRing_IsSummedUpInTwoLines) {
  const std::string text = explain_steps(build(Collective::all_reduce, "ring", 1024));
  EXPECT_THAT(
      text,
      HasSubstr("  steps 0-1022: every rank sends to the next; 1 of 1024 chunks each, added"));
  EXPECT_THAT(
      text,
      HasSubstr("  steps 1023-2045: every rank sends to the next; 1 of 1024 chunks each, copied"));
}

TEST(Explain, SingleRank_HasNothingToMove) {
  EXPECT_THAT(explain_steps(build(Collective::all_reduce, "ring", 1)),
              HasSubstr("Nothing has to move."));
}

TEST(Explain, StepSentences_NameThePattern) {
  const auto sentence = [](const char* algorithm, int step) {
    return explain_step(build(Collective::all_reduce, algorithm, 8), step);
  };
  EXPECT_THAT(sentence("rabenseifner", 0), HasSubstr("rank r exchanges with rank r xor"));
  EXPECT_THAT(sentence("parameter_server", 0), HasSubstr("7 ranks send to rank 0"));
  EXPECT_THAT(sentence("parameter_server", 1), HasSubstr("rank 0 sends to 7 ranks"));
  EXPECT_THAT(sentence("one_shot", 0), HasSubstr("every rank sends to every other"));
}

/// The steps executed in the drawing end where the collective's promise says, for everything that
/// verify proves: two interpreters of the same rules must agree.
TEST(Holdings, EveryAlgorithm_EndsWithWhatIsOwed) {
  for (const Algorithm& a : catalogue()) {
    const Schedule s = build(a.collective, a.name, 8);
    Holdings holdings(s);
    for (int t = 0; t < s.steps; ++t) holdings.advance(t);
    for (int r = 0; r < s.ranks; ++r)
      for (int c = 0; c < s.chunks; ++c) {
        const Owed owed = owed_after(s, r, c);
        std::vector<Contribution> expected;
        if (owed.what == Owed::What::one) expected = {owed.from};
        if (owed.what == Owed::What::every_contributor)
          for (int from = s.servers; from < s.ranks; ++from)
            expected.push_back({from, owed.from.chunk});
        if (owed.what == Owed::What::nothing) continue;
        EXPECT_EQ(holdings.at(r, c), expected) << a.name << " rank " << r << " chunk " << c;
      }
  }
}

TEST(Trace, EveryAlgorithm_EndsWhenTheCostModelSays) {
  const LinkCost link{.alpha = Seconds{1e-6}, .beta = 1e-10, .gamma = 2e-11};
  for (const Algorithm& a : catalogue()) {
    const Schedule s = build(a.collective, a.name, 8);
    const auto trace = nlohmann::json::parse(trace_json(s, {.count = {100'003}, .link = link}));
    double end = 0.0;  // [us]
    for (const auto& event : trace.at("traceEvents"))
      if (event.at("ph") == "X")
        end = std::max(end, event.at("ts").get<double>() + event.at("dur").get<double>());
    const double expected = cost(s, {100'003}, Dtype::f32, link).time.count() * 1e6;
    // The busiest port and the busiest reducer of the last step may be different ranks.
    EXPECT_LE(end, expected * (1 + 1e-6)) << a.name;
    EXPECT_GE(end, expected * 0.8) << a.name;
  }
}

TEST(Trace, EveryMessage_IsAnArrowFromABoxOfItsSenderIntoABoxOfItsReceiver) {
  const Schedule s = build(Collective::all_reduce, "ring", 4);
  const auto trace =
      nlohmann::json::parse(trace_json(s, {.count = {4096}, .link = {.beta = 1e-10}}));
  const auto boxed = [&](const nlohmann::json& end) {
    for (const auto& e : trace.at("traceEvents"))
      if (e.at("ph") == "X" && e.at("tid") == end.at("tid") && e.at("ts") <= end.at("ts") &&
          end.at("ts").get<double>() <= e.at("ts").get<double>() + e.at("dur").get<double>())
        return true;
    return false;
  };
  int starts = 0, ends = 0;
  for (const auto& e : trace.at("traceEvents")) {
    if (e.at("ph") != "s" && e.at("ph") != "f") continue;
    e.at("ph") == "s" ? ++starts : ++ends;
    EXPECT_TRUE(boxed(e)) << e;
  }
  EXPECT_EQ(starts, 4 * 6);
  EXPECT_EQ(ends, starts);
}

TEST(Trace, TooManyMessagesToLookAt_AreRefused) {
  EXPECT_THROW((void)trace_json(build(Collective::all_reduce, "ring", 1024), {.count = {1024}}),
               Error);
}

}  // namespace
}  // namespace collmark
