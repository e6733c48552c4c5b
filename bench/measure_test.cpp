#include "bench/measure.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "bench/exact_data.hpp"
#include "bench/meeting_team.hpp"
#include "bench/solo_team.hpp"
#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

constexpr std::int64_t kCount = 1'000;

/// An all-reduce of i32 that rank 0 computes for everybody, with a place for faults.
struct SharedSum {
  explicit SharedSum(int ranks)
      : schedule(build(Collective::all_reduce, "ring", ranks)),
        data(schedule, {.count = {kCount}, .dtype = Dtype::i32}),
        input(static_cast<std::size_t>(ranks), std::vector<std::int32_t>(kCount)),
        output(input) {}
  Schedule schedule;
  ExactData data;
  std::vector<std::vector<std::int32_t>> input, output;
};

/// Changes the result of call number `call` (from 0) of `rank`.
using Fault = std::function<void(int call, int rank, std::vector<std::int32_t>& output)>;

class SumOperation : public Operation {
 public:
  SumOperation(SharedSum& all, Meeting& meeting, int rank, Fault fault)
      : all_(all), meeting_(meeting), rank_(rank), fault_(std::move(fault)) {}
  OperationTraits traits() const override { return {}; }
  void rewrite_input() override { all_.data.write_input(rank_, ++generation_, bytes(all_.input)); }
  void run() override {
    meeting_.point.arrive_and_wait();
    std::vector<std::int32_t>& mine = all_.output[static_cast<std::size_t>(rank_)];
    for (std::size_t i = 0; i < kCount; ++i) {
      mine[i] = 0;
      for (const auto& one : all_.input) mine[i] += one[i];
    }
    if (fault_) fault_(calls_, rank_, mine);
    ++calls_;
    meeting_.point.arrive_and_wait();
  }
  Check check() const override { return all_.data.check(rank_, generation_, bytes(all_.output)); }
  void evict() override { ++evictions; }
  Moved moved() const override { return {}; }

  int evictions = 0;
  int calls() const { return calls_; }

 private:
  std::byte* bytes(std::vector<std::vector<std::int32_t>>& of) const {
    return reinterpret_cast<std::byte*>(of[static_cast<std::size_t>(rank_)].data());
  }
  SharedSum& all_;
  Meeting& meeting_;
  int rank_;
  Fault fault_;
  int calls_ = 0;
  int generation_ = 0;
};

struct Timed {
  Measurement measurement;  // of rank 0
  std::vector<int> calls;   // of each rank
  int evictions = 0;
};

Timed measured(const MeasureOptions& options, Fault fault = {}, int late_rank = -1) {
  constexpr int kRanks = 2;
  Meeting meeting(kRanks);
  SharedSum all(kRanks);
  Timed timed{.measurement = {}, .calls = std::vector<int>(kRanks)};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank)
    threads.emplace_back([&, rank] {
      MeetingTeam team(meeting, rank);
      team.late = rank == late_rank;
      SumOperation operation(all, meeting, rank, fault);
      const Measurement m = measure(team, operation, options);
      timed.calls[static_cast<std::size_t>(rank)] = operation.calls();
      if (rank == 0) timed.measurement = m, timed.evictions = operation.evictions;
    });
  for (std::thread& t : threads) t.join();
  return timed;
}

MeasureOptions exactly(int readings) {
  return {.warmups = 3,
          .most_iterations = readings,
          .time_budget = Seconds{60.0},
          .narrow_enough = 0.0};
}

TEST(Measure, RightOperationIsTimedAndCorrect) {
  const Timed timed = measured({.most_iterations = 50, .narrow_enough = 0.0});
  EXPECT_TRUE(timed.measurement.correct());
  EXPECT_GE(timed.measurement.warmups, 10);
  EXPECT_GT(timed.measurement.time.min, 0.0);
  EXPECT_EQ(timed.calls[0], timed.calls[1]) << "ranks disagreed on the count";
}

/// Says that every operation took so long, whatever the host's clock shows.
class ClockedOperation : public Operation, private OwnClock {
 public:
  static constexpr std::chrono::microseconds kTime{1234};
  explicit ClockedOperation(std::chrono::microseconds time = kTime) : time_(time) {}
  OperationTraits traits() const override { return {}; }
  void rewrite_input() override { rewritten_after = runs_; }
  void run() override { ++runs_; }
  Check check() const override { return {}; }
  void evict() override {}
  Moved moved() const override { return {}; }
  OwnClock* own_clock() override { return this; }
  int rewritten_after = 0, started_after = 0, stopped_after = 0;  // runs, in the last reading

 private:
  void start() override { started_after = runs_; }
  std::chrono::nanoseconds stop() override {
    stopped_after = runs_;
    return (stopped_after - started_after) * time_;
  }
  std::chrono::nanoseconds tick() const override { return std::chrono::nanoseconds(500); }
  std::chrono::microseconds time_;
  int runs_ = 0;
};

TEST(Measure, AnOperationsOwnClockIsBelieved) {
  SoloTeam alone;
  ClockedOperation operation;
  const Measurement m = measure(alone, operation, exactly(7));
  EXPECT_EQ(m.iterations(), 7);
  EXPECT_DOUBLE_EQ(m.time.min, Seconds(ClockedOperation::kTime).count());
  EXPECT_DOUBLE_EQ(m.time.max, Seconds(ClockedOperation::kTime).count());
  EXPECT_EQ(operation.stopped_after, operation.started_after + 1) << "of one operation";
}

TEST(Measure, AReadingOfACoarseClockIsTwentyOfItsTicksAndNothingIsRewrittenInIt) {
  SoloTeam alone;
  ClockedOperation operation(std::chrono::microseconds(3));
  const Measurement m = measure(alone, operation, exactly(7));
  EXPECT_EQ(m.batch, 4);
  EXPECT_DOUBLE_EQ(m.time.p50, 3e-6);
  EXPECT_EQ(operation.rewritten_after, operation.started_after);
}

TEST(Measure, WarmUpIsTenOperationsHoweverLittleTimeThereIs) {
  const Timed timed = measured({.most_iterations = 1, .time_budget = Seconds{0.0}});
  EXPECT_GE(timed.measurement.warmups, 10);
}

TEST(Measure, CommunicatingNothingIsCaughtBeforeTiming) {
  SharedSum plain(2);
  const Timed timed =
      measured(exactly(20), [&](int call, int rank, std::vector<std::int32_t>& out) {
        plain.data.write_input(rank, call + 1, reinterpret_cast<std::byte*>(out.data()));
      });
  EXPECT_FALSE(timed.measurement.correct());
  EXPECT_EQ(timed.measurement.iterations(), 0);
}

TEST(Measure, AddingABitToEveryElementIsCaught) {
  const Timed timed = measured(exactly(20), [](int, int, std::vector<std::int32_t>& out) {
    for (std::int32_t& x : out) x += 1;
  });
  EXPECT_EQ(timed.measurement.check.wrong, 2 * kCount);
}

TEST(Measure, OneElementOfOneRankInOneCallOfTwoHundredIsCaughtWithItsPlace) {
  for (const int bad_call : {4, 57, 199}) {
    const Timed timed =
        measured(exactly(200), [=](int call, int rank, std::vector<std::int32_t>& out) {
          if (call == bad_call && rank == 1) out[777] ^= 1;
        });
    EXPECT_EQ(timed.measurement.check.wrong, 1) << "call " << bad_call;
    EXPECT_EQ(timed.measurement.check.first.rank, 1);
    EXPECT_EQ(timed.measurement.check.first.index, 777);
  }
}

TEST(Measure, ResultLeftOverFromAnEarlierCallIsCaught) {
  std::vector<std::vector<std::int32_t>> first(2);
  const Timed timed =
      measured(exactly(20), [&](int call, int rank, std::vector<std::int32_t>& out) {
        auto& kept = first[static_cast<std::size_t>(rank)];
        if (call == 0) kept = out;
        out = kept;  // from now on nothing is communicated
      });
  EXPECT_FALSE(timed.measurement.correct());
}

TEST(Measure, CountIsTheStopReasonWhenThereIsNoTimeForMore) {
  const Timed timed = measured({.warmups = 0, .most_iterations = 7, .time_budget = Seconds{60.0}});
  EXPECT_EQ(timed.measurement.warmups, 0);
  EXPECT_EQ(timed.measurement.iterations(), 7);
  EXPECT_EQ(timed.measurement.stop_reason, StopReason::count);
  EXPECT_EQ(timed.measurement.samples.size(), 14u);
}

TEST(Measure, TimeIsTheStopReasonWhenTheBudgetIsSpent) {
  const Timed timed =
      measured({.warmups = 1, .most_iterations = 1'000'000, .time_budget = Seconds{0.02}},
               [](int call, int, std::vector<std::int32_t>&) {
                 // Times that never settle: each call another duration.
                 std::this_thread::sleep_for(std::chrono::microseconds(call * 97 % 2000));
               });
  EXPECT_EQ(timed.measurement.stop_reason, StopReason::time);
}

TEST(Measure, IntervalIsTheStopReasonWhenTheMedianIsKnown) {
  const Timed timed =
      measured({.warmups = 1, .most_iterations = 1'000, .time_budget = Seconds{60.0}},
               [](int, int, std::vector<std::int32_t>&) {
                 const auto until = Clock::now() + std::chrono::microseconds(200);
                 while (Clock::now() < until) std::this_thread::yield();
               });
  const Measurement& m = timed.measurement;
  EXPECT_EQ(m.stop_reason, StopReason::interval);
  ASSERT_TRUE(m.time.interval);
  EXPECT_GE(m.iterations(), 20);
  EXPECT_LE(m.time.interval->high - m.time.p50, 0.025 * m.time.p50);
  EXPECT_LE(m.time.p50 - m.time.interval->low, 0.025 * m.time.p50);
}

TEST(Measure, TimeOfAReadingIsThatOfItsSlowestRank) {
  const Timed timed = measured(exactly(10));
  const Measurement& m = timed.measurement;
  double longest = 0.0;
  for (const Sample& s : m.samples) longest = std::max(longest, Seconds(s.time).count());
  EXPECT_DOUBLE_EQ(m.time.max, longest / m.batch);
}

TEST(Measure, LateStartsAreCountedByReadingNotByRank) {
  EXPECT_EQ(measured(exactly(10), {}, 1).measurement.late_starts, 10);
  EXPECT_EQ(measured(exactly(10)).measurement.late_starts, 0);
}

TEST(Measure, ShortOperationsShareAReadingAndStayChecked) {
  MeasureOptions coarse = exactly(10);
  coarse.timer_call = Seconds{1e-3};  // as if the clock took a millisecond to read
  EXPECT_GT(measured(coarse).measurement.batch, 1);
  const Timed wrong = measured(coarse, [](int call, int rank, std::vector<std::int32_t>& out) {
    if (call > 100 && rank == 0) out[5] = 0;
  });
  EXPECT_FALSE(wrong.measurement.correct());
}

TEST(Measure, ColdOperationsAreNeverBatched) {
  MeasureOptions coarse = exactly(5);
  coarse.timer_call = Seconds{1e-3};
  coarse.cache = CacheState::cold;
  EXPECT_EQ(measured(coarse).measurement.batch, 1);
}

TEST(Measure, ARareFaultThatBatchesHideIsCaughtByTheOperationsAfterThem) {
  MeasureOptions coarse = exactly(10);
  coarse.timer_call = Seconds{1e-3};
  const Timed timed = measured(coarse, [](int call, int rank, std::vector<std::int32_t>& out) {
    if (call % 20 == 13 && rank == 1) out[5] ^= 1;
  });
  EXPECT_FALSE(timed.measurement.correct());
}

TEST(Measure, ThroughputModeRunsBatchesWithoutRewritingBetween) {
  MeasureOptions options = exactly(6);
  options.mode = Mode::throughput;
  const Timed timed = measured(options);
  EXPECT_GE(timed.measurement.batch, 2);
  const int looked_at_after = timed.calls[0] - (1 + 3 + 6 * timed.measurement.batch);
  EXPECT_GE(looked_at_after, 1);
  EXPECT_LE(looked_at_after, 200);
}

TEST(Measure, ColdEvictsBeforeEveryReadingAndTouchedNever) {
  MeasureOptions options = exactly(6);
  EXPECT_EQ(measured(options).evictions, 0);
  options.cache = CacheState::cold;
  EXPECT_EQ(measured(options).evictions, 3 + 6);
}

}  // namespace
}  // namespace collmark
