#include "collectives/cost.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "collectives/catalogue.hpp"
#include "collectives/closed_form.hpp"

namespace collmark {
namespace {

constexpr LinkCost kLink{.alpha = Seconds(3e-6), .beta = 2e-10, .gamma = 5e-11};

Schedule all_reduce(std::string_view algorithm, int ranks) {
  return build(Collective::all_reduce, algorithm, ranks);
}

// --- counting, by hand ---

TEST(Cost, RingOfFourOnEvenChunks_SendsThreeQuartersTwice) {
  const Cost c = cost(all_reduce("ring", 4), Elements{4096}, Dtype::f32);
  EXPECT_EQ(c.steps, 6);
  EXPECT_EQ(c.busiest, Bytes{2 * 3 * 4096});
  EXPECT_EQ(c.busiest_reduced, Bytes{3 * 4096});
  EXPECT_EQ(c.busiest_messages, 6);
  EXPECT_EQ(c.total, Bytes{4 * 2 * 3 * 4096});
}

TEST(Cost, PartsOfOneMessage_PayAlphaOnce) {
  const Schedule two_parts{.ranks = 2, .chunks = 2, .steps = 1, .step = [](int, Emit emit) {
                             emit(Copy{0, 1, 1});
                             emit(Copy{1, 0, 0});
                             emit(Copy{0, 1, 0});
                           }};
  const Cost c = cost(two_parts, Elements{10}, Dtype::f64, {.alpha = Seconds(1.0), .beta = 1.0});
  EXPECT_EQ(c.ranks[0].messages, 1);
  EXPECT_EQ(c.ranks[0].sent, Bytes{80});
  EXPECT_EQ(c.ranks[0].received, Bytes{40});
  EXPECT_DOUBLE_EQ(c.time.count(), 1.0 + 80.0);
}

TEST(Cost, ReceivingPort_CanBeTheBusyOne) {
  const Schedule gather{.ranks = 3, .chunks = 1, .steps = 1, .step = [](int, Emit emit) {
                          emit(Reduce{1, 0, 0});
                          emit(Reduce{2, 0, 0});
                        }};
  const LinkCost units{.alpha = Seconds(1.0), .beta = 10.0, .gamma = 1000.0};
  const Cost c = cost(gather, Elements{1}, Dtype::u8, units);
  EXPECT_DOUBLE_EQ(c.time.count(), 2 * (1.0 + 10.0) + 2 * 1000.0);
  EXPECT_EQ(c.busiest, Bytes{2});
}

TEST(Cost, LocalMovesAndOwnValues_AreFree) {
  const Schedule local{.ranks = 1, .chunks = 2, .steps = 1, .step = [](int, Emit emit) {
                         emit(Reduce{0, 0, 0});
                         emit(Move{0, 0, 0, 1});
                       }};
  const Cost c = cost(local, Elements{10}, Dtype::f32, kLink);
  EXPECT_EQ(c.total, Bytes{0});
  EXPECT_EQ(c.busiest_reduced, Bytes{0});
  EXPECT_EQ(c.time, Seconds{0});
}

TEST(Cost, UnevenChunks_AreCountedAsTheyAre) {
  // 7 elements on 3 ranks: chunks of 3, 2, 2. Rank 1 keeps 2, then hands on all but chunk 2.
  const Cost c = cost(all_reduce("ring", 3), Elements{7}, Dtype::u8);
  EXPECT_EQ(c.ranks[0].sent, Bytes{(7 - 3) + (7 - 2)});
  EXPECT_EQ(c.ranks[1].sent, Bytes{(7 - 2) + (7 - 2)});
  EXPECT_EQ(c.ranks[2].sent, Bytes{(7 - 2) + (7 - 3)});
  EXPECT_EQ(c.busiest, Bytes{10});
}

TEST(Cost, DeclaredRuns_CostWhatTheWalkCosts) {
  for (const Algorithm& a : catalogue()) {
    const Schedule declared = build(a.collective, a.name, 8);
    Schedule walked = declared;
    walked.traffic = {};
    const Cost d = cost(declared, Elements{1 << 10}, Dtype::f32, kLink);
    const Cost w = cost(walked, Elements{1 << 10}, Dtype::f32, kLink);
    EXPECT_EQ(d.busiest, w.busiest) << a.name;
    EXPECT_EQ(d.busiest_reduced, w.busiest_reduced) << a.name;
    EXPECT_EQ(d.total, w.total) << a.name;
    EXPECT_NEAR(d.time.count(), w.time.count(), 1e-12 * w.time.count()) << a.name;
  }
}

TEST(Cost, RingOf65536Ranks_IsWalkedOneStepPerPattern) {
  int walked = 0;
  Schedule ring = all_reduce("ring", 65'536);
  ring.step = [&walked, step = ring.step](int t, Emit emit) {
    ++walked;
    step(t, emit);
  };
  const Cost c = cost(ring, Elements{1 << 20}, Dtype::f32, kLink);
  EXPECT_EQ(walked, 1);
  EXPECT_EQ(c.busiest, Bytes{2 * 65'535L * 64});
  EXPECT_EQ(c.busiest_reduced, Bytes{65'535L * 64});
}

// --- counting against the closed formulas ---

std::vector<std::int64_t> counts_for(int p) { return {0, 1, p - 1, p, p + 1, 1003, 262'144}; }

std::vector<int> proving_ranks() {
  std::vector<int> ranks;
  for (int p = 1; p <= 33; ++p) ranks.push_back(p);
  ranks.insert(ranks.end(), {64, 128, 257});
  return ranks;
}

void expect_time(const ClosedForm& f, const Cost& c) {
  const double rounding = 1e-9 * f.time.count();
  if (f.time_at_most)
    EXPECT_LE(c.time.count(), f.time.count() + rounding);
  else
    EXPECT_NEAR(c.time.count(), f.time.count(), rounding);
}

void expect_equal(const ClosedForm& f, const Cost& c) {
  EXPECT_EQ(c.busiest, f.busiest);
  EXPECT_EQ(c.busiest_reduced, f.busiest_reduced);
  expect_time(f, c);
  if (f.steps_at_most) {
    EXPECT_LE(c.steps, f.steps);
    EXPECT_LE(c.busiest_messages, f.busiest_messages);
  } else {
    EXPECT_EQ(c.steps, f.steps);
    EXPECT_EQ(c.busiest_messages, f.busiest_messages);
  }
}

std::optional<Schedule> schedule_of(Collective collective, std::string_view text, int ranks) {
  try {
    return build(collective, text, ranks);
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

void compare_at_all_counts(Collective collective, std::string_view text, int ranks) {
  const AlgorithmName asked = resolve(collective, text, ranks);
  FormulaQuestion q{.collective = collective,
                    .algorithm = asked.base,
                    .numbers = asked.numbers,
                    .ranks = ranks,
                    .dtype = Dtype::f64,
                    .link = kLink};
  const std::optional<Schedule> s = schedule_of(collective, text, ranks);
  for (const std::int64_t count : counts_for(ranks)) {
    SCOPED_TRACE(fmt::format("{} {} ranks, {} elements", text, ranks, count));
    q.count = Elements{count};
    const std::optional<ClosedForm> f = closed_form(q);
    ASSERT_EQ(f.has_value(), s.has_value());
    if (s) expect_equal(*f, cost(*s, q.count, q.dtype, q.link));
  }
}

TEST(ClosedForm, EveryAllReduceOfTheLiteratureHasOne) {
  for (const char* algorithm :
       {"ring", "binomial_tree", "pipelined_tree", "double_binary_tree", "parameter_server",
        "parameter_server_dedicated", "sharded_parameter_server", "one_shot", "two_shot",
        "recursive_doubling", "rabenseifner", "circulant", "hierarchical_ring", "swing"})
    EXPECT_TRUE(formula_text(Collective::all_reduce, algorithm)) << algorithm;
}

class EveryFormula : public testing::TestWithParam<Algorithm> {};

TEST_P(EveryFormula, EqualsWhatTheScheduleCounts) {
  for (const int p : proving_ranks())
    compare_at_all_counts(GetParam().collective, GetParam().name, p);
}

TEST_P(EveryFormula, HasAText) {
  const auto text = formula_text(GetParam().collective, GetParam().name);
  for (const std::string_view part : {text->steps, text->busiest, text->reduced, text->time})
    EXPECT_FALSE(part.empty());
}

/// An author's own algorithm needs no formula: its cost is counted.
std::vector<Algorithm> of_the_literature() {
  std::vector<Algorithm> some;
  for (const Algorithm& a : catalogue())
    if (formula_text(a.collective, a.name)) some.push_back(a);
  return some;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryFormula, testing::ValuesIn(of_the_literature()),
                         [](const auto& of) {
                           return fmt::format("{}_{}", name(of.param.collective), of.param.name);
                         });

TEST(Formula, HoldsForEveryParameter) {
  for (int p = 1; p <= 12; ++p)
    for (const int n : {1, 2, 3, 5, 16}) {
      for (const char* base : {"pipelined_tree", "double_binary_tree", "sharded_parameter_server"})
        compare_at_all_counts(Collective::all_reduce, fmt::format("{}:{}", base, n), p);
      compare_at_all_counts(Collective::all_reduce, fmt::format("hierarchical_ring:{}x2", n),
                            2 * n);
      compare_at_all_counts(Collective::reduce, fmt::format("chain:{}", n), p);
      compare_at_all_counts(Collective::broadcast, fmt::format("chain:{}", n), p);
    }
}

TEST(Formula, DivisibleCases_AreTheTablesLiterals) {
  constexpr std::int64_t K = 840;  // [bytes], divisible by all that is asked below
  const auto busiest = [](std::string_view algorithm, int p) {
    const AlgorithmName asked = resolve(Collective::all_reduce, algorithm, p);
    return closed_form({.algorithm = asked.base,
                        .numbers = asked.numbers,
                        .ranks = p,
                        .count = Elements{K},
                        .dtype = Dtype::u8})
        ->busiest.value;
  };
  EXPECT_EQ(busiest("parameter_server", 8), 7 * K);
  EXPECT_EQ(busiest("ring", 8), 7 * K / 4);
  EXPECT_EQ(busiest("binomial_tree", 5), 3 * K);
  EXPECT_EQ(busiest("pipelined_tree:4", 5), 3 * K);
  EXPECT_EQ(busiest("pipelined_tree:4", 4), 2 * K);
  EXPECT_EQ(busiest("double_binary_tree:2", 4), 2 * K);
  EXPECT_EQ(busiest("double_binary_tree:2", 3), 3 * K / 2);
  EXPECT_EQ(busiest("double_binary_tree:2", 2), K);
  EXPECT_EQ(busiest("recursive_doubling", 5), 3 * K);
  EXPECT_EQ(busiest("rabenseifner", 5), K + 2 * K * 3 / 4);
  EXPECT_EQ(busiest("circulant", 7), 2 * K * 6 / 7);
  EXPECT_EQ(busiest("two_shot", 6), 2 * K * 5 / 6);
  EXPECT_EQ(busiest("one_shot", 6), 5 * K);
  EXPECT_EQ(busiest("sharded_parameter_server:4", 8), K);
  EXPECT_EQ(busiest("sharded_parameter_server:2", 8), 3 * K);
  EXPECT_EQ(busiest("hierarchical_ring:2x4", 8), 7 * K / 4);
  EXPECT_EQ(busiest("swing", 8), 7 * K / 4);
}

TEST(Formula, UnknownAlgorithm_HasNone) {
  EXPECT_FALSE(closed_form({.algorithm = "my_own"}));
  EXPECT_FALSE(formula_text(Collective::all_reduce, "my_own"));
}

TEST(BusFactor, IsTwiceTheOthersShareOfAnAllReduce) {
  EXPECT_DOUBLE_EQ(*bus_factor(Collective::all_reduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(*bus_factor(Collective::all_gather, 4), 0.75);
  EXPECT_DOUBLE_EQ(*bus_factor(Collective::broadcast, 4), 1.0);
  EXPECT_FALSE(bus_factor(Collective::all_reduce, 1));
  EXPECT_FALSE(bus_factor(Collective::barrier, 4));
}

}  // namespace
}  // namespace collmark
