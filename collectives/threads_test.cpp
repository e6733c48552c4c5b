#include "collectives/threads.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "collectives/catalogue.hpp"
#include "collectives/test_data.hpp"

namespace collmark {
namespace {

struct Setting {
  Collective collective;
  std::string algorithm;
  int ranks;
  Payload payload;
  bool in_place;
  PlanOptions options = {};
};

Schedule schedule_of(const Setting& s) { return build(s.collective, s.algorithm, s.ranks); }

class Trial {
 public:
  Trial(const Setting& setting, int operations)
      : Trial(setting, expect(schedule_of(setting), setting.payload, operations)) {}

  Trial(const Setting& setting, const Expectation& expected) : setting_(setting) {
    const Schedule schedule = schedule_of(setting);
    const std::size_t size = bytes(setting.payload);
    outputs_.assign(static_cast<std::size_t>(setting.ranks), ByteBuffer(size, std::byte{0xA5}));
    inputs_ = outputs_;
    std::vector<RankBuffers> buffers;
    for (std::size_t r = 0; r < outputs_.size(); ++r)
      buffers.push_back({.input = setting.in_place ? outputs_[r].data() : inputs_[r].data(),
                         .output = outputs_[r].data()});
    ThreadTeam team(setting.ranks);
    ThreadsCollective collective(team, schedule, setting.payload, buffers, setting.options);
    std::atomic<int> wrong{0};
    team.run([&](int rank) {
      const auto r = static_cast<std::size_t>(rank);
      for (std::size_t i = 0; i < expected.inputs.size(); ++i) {
        const ByteBuffer& fresh = expected.inputs[i][r];
        if (size > 0) std::memcpy(buffers[r].input, fresh.data(), size);
        collective.run(rank);
        if (!owed_equal(schedule, setting.payload, rank, {outputs_[r], expected.outputs[i][r]}))
          ++wrong;
        if (!setting.in_place && inputs_[r] != fresh) ++wrong;
      }
    });
    wrong_ = wrong;
    for (int r = 0; r < setting.ranks; ++r) moved_.push_back(collective.moved(r));
  }

  [[nodiscard]] int wrong() const { return wrong_; }
  [[nodiscard]] const std::vector<Moved>& moved() const { return moved_; }

 private:
  Setting setting_;
  std::vector<ByteBuffer> inputs_, outputs_;
  std::vector<Moved> moved_;
  int wrong_ = 0;
};

class EveryAlgorithm : public testing::TestWithParam<int> {};

/// Every algorithm, dtype, op and placement with `count` elements; returns how many cases there were.
int check_all(int ranks, std::int64_t count, const PlanOptions& options) {
  int cases = 0, operations = count > 100'000 ? 1 : 2;  // in a row; the reference takes its time
  for (const Algorithm& a : catalogue()) {
    if (!is_supported(a, ranks)) continue;
    for (const Dtype dtype : kDtypes) {
      for (const ReduceOp op : kReduceOps) {
        if (!reduces(a.collective) && op != ReduceOp::sum) continue;
        Setting setting{.collective = a.collective,
                        .algorithm = std::string(a.name),
                        .ranks = ranks,
                        .payload = {.count = {count}, .dtype = dtype, .op = op},
                        .in_place = false,
                        .options = options};
        const Expectation expected = expect(schedule_of(setting), setting.payload, operations);
        for (const bool in_place : {false, true}) {
          setting.in_place = in_place;
          ++cases;
          EXPECT_EQ(Trial(setting, expected).wrong(), 0)
              << name(a.collective) << " " << a.name << " N=" << ranks << " " << name(dtype) << " "
              << name(op) << " count " << count << (in_place ? " in place" : " out of place");
        }
      }
    }
  }
  return cases;
}

TEST_P(EveryAlgorithm, EqualsReferenceBitForBit_AllDtypesOpsAndPlacements) {
  const int ranks = GetParam();
  for (const std::int64_t count : {0, 1, ranks - 1, ranks, ranks + 1, 1003})
    EXPECT_GT(check_all(ranks, count, {}), 1000);
}

TEST_P(EveryAlgorithm, EqualsReferenceBitForBit_262144Elements_AllDtypesOpsAndPlacements) {
  EXPECT_GT(check_all(GetParam(), 262'144, {.tile = {65'536}}), 1000);
}

TEST_P(EveryAlgorithm, EqualsReferenceBitForBit_LargeCountInManyTilesWithBothKindsOfStores) {
  for (const Algorithm& a : catalogue()) {
    if (!is_supported(a, GetParam())) continue;
    Setting setting{.collective = a.collective,
                    .algorithm = std::string(a.name),
                    .ranks = GetParam(),
                    .payload = {.count = {65'537}, .dtype = Dtype::f32},
                    .in_place = false};
    const Expectation expected = expect(schedule_of(setting), setting.payload, 2);
    for (const bool in_place : {false, true}) {
      for (const std::int64_t streaming_above : {1, 1 << 30}) {
        setting.in_place = in_place;
        setting.options = {.tile = {4'096}, .streaming_above = {streaming_above}};
        EXPECT_EQ(Trial(setting, expected).wrong(), 0)
            << name(a.collective) << " " << a.name << " N=" << setting.ranks
            << (in_place ? " in" : " out of") << " place, streaming above " << streaming_above;
      }
    }
  }
}

TEST_P(EveryAlgorithm, FewElementsInManyTiles_EqualReferenceAndAreCountedAsTheScheduleListsThem) {
  for (const Algorithm& a : catalogue()) {
    if (!is_supported(a, GetParam())) continue;
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::avg}) {
      if (!reduces(a.collective) && op == ReduceOp::avg) continue;
      for (const bool in_place : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", name(a.collective), a.name, name(op)));
        const Setting setting{.collective = a.collective,
                              .algorithm = std::string(a.name),
                              .ranks = GetParam(),
                              .payload = {.count = {75}, .dtype = Dtype::f32, .op = op},
                              .in_place = in_place,
                              .options = {.tile = {in_place ? 16 : 15}}};
        const Trial run(setting, 3);
        EXPECT_EQ(run.wrong(), 0);
        const std::vector<Moved> expected = listed_moves(schedule_of(setting), setting.payload);
        for (std::size_t r = 0; r < expected.size(); ++r) {
          EXPECT_EQ(run.moved()[r].sent, expected[r].sent) << r;
          EXPECT_EQ(run.moved()[r].received, expected[r].received) << r;
          EXPECT_EQ(run.moved()[r].messages, expected[r].messages) << r;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, EveryAlgorithm, testing::Range(1, 10),
                         testing::PrintToStringParamName());

TEST(ThreadsCollective, CountsWhatTheRingMoves) {
  const Trial run({.collective = Collective::all_reduce,
                   .algorithm = "ring",
                   .ranks = 4,
                   .payload = {.count = {1000}},
                   .in_place = true},
                  3);
  for (const Moved& m : run.moved()) {
    EXPECT_EQ(m.sent, Bytes{2 * 3 * 250 * 4});
    EXPECT_EQ(m.received, Bytes{2 * 3 * 250 * 4});
    EXPECT_EQ(m.messages, 6);
  }
}

/// Leaves out the last element of every tile of 16.
std::size_t short_of_one(std::span<const std::byte* const> sources,
                         std::span<std::byte* const> destinations, std::size_t count,
                         Stores stores) {
  const std::size_t some = count == 16 ? 15 : count;
  return reduce_pass(Dtype::f32, ReduceOp::sum)(sources, destinations, some, stores);
}

TEST(ThreadsCollective, ATileThatMovesShort_IsMissingInTheCountAndInTheResult) {
  const Trial run({.collective = Collective::all_reduce,
                   .algorithm = "ring",
                   .ranks = 2,
                   .payload = {.count = {2 * 37}},  // chunks of two tiles of 16 and one of 5
                   .in_place = true,
                   .options = {.tile = {64}, .pass = short_of_one}},
                  1);
  EXPECT_GT(run.wrong(), 0);
  for (const Moved& m : run.moved()) {
    EXPECT_EQ(m.sent, Bytes{2 * (37 - 2) * 4});
    EXPECT_EQ(m.received, Bytes{2 * (37 - 2) * 4});
  }
}

TEST(ThreadTeam, ARankThatNeverArrives_IsNamedWithStepAndPeer) {
  const Schedule ring = build(Collective::all_reduce, "ring", 3);
  ThreadTeam team(3, {.timeout = std::chrono::milliseconds(200)});
  std::vector<ByteBuffer> data(3, ByteBuffer(48));
  std::vector<RankBuffers> buffers;
  for (ByteBuffer& b : data) buffers.push_back({b.data(), b.data()});
  ThreadsCollective collective(team, ring, {.count = {12}}, buffers);
  try {
    team.run([&](int rank) {
      if (rank != 2) collective.run(rank);
    });
    FAIL() << "nobody noticed";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::timed_out);
    EXPECT_NE(std::string(e.what()).find("for rank 2 to enter the operation"), std::string::npos)
        << e.what();
    EXPECT_NE(std::string(e.what()).find("step 0"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace collmark
