#include "bench/sweep_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/error.hpp"

namespace collmark {
namespace {

using testing::ElementsAre;

/// Notes what it is told; fails the case of `lost_ranks` ranks, with an error of `kind`.
class NotingBackend : public Backend {
 public:
  explicit NotingBackend(std::vector<std::string>& notes) : notes_(notes) {}
  int lost_ranks = 0;
  ErrorKind kind = ErrorKind::lost;

  [[nodiscard]] std::string_view name() const override { return "noting"; }
  [[nodiscard]] Availability availability() const override { return {.here = true, .reason = ""}; }
  [[nodiscard]] Bytes memory_needed(const Case&) const override { return {}; }
  [[nodiscard]] Bytes memory_available() const override { return {1 << 30}; }
  void begin_launch(int ranks) override { notes_.push_back("launch " + std::to_string(ranks)); }
  [[nodiscard]] CaseResult run(const Case& c) override {
    notes_.push_back("case " + std::to_string(c.ranks));
    if (c.ranks == lost_ranks) throw Error(kind, "rank 1 is gone");
    return {.algorithm = c.algorithm};
  }
  void interrupt() noexcept override {}

 private:
  std::vector<std::string>& notes_;
};

class Rows : public SweepObserver {
 public:
  std::vector<Record> all;
  void starting(const PlannedCase&) override {}
  void finished(const Record& record) override { all.push_back(record); }
};

PlannedCase planned(int seq, int launch, int ranks) {
  return {.seq = seq,
          .launch = launch,
          .backend = 0,
          .asked_size = {4},
          .c = {.ranks = ranks, .count = {1}}};
}

class SweepRun : public testing::Test {
 protected:
  SweepRun() { backends_.push_back(std::make_unique<NotingBackend>(notes_)); }
  NotingBackend& backend() { return static_cast<NotingBackend&>(*backends_.front()); }

  std::vector<std::string> notes_;
  Backends backends_;
  Rows rows_;
  Sweep sweep_{{"id", "host"}, backends_, rows_};
};

TEST_F(SweepRun, EachLaunchBeginsWithTheMostRanksThatItsCasesNeed) {
  const std::vector<PlannedCase> plan{planned(0, 0, 2), planned(1, 0, 4), planned(2, 1, 3),
                                      planned(3, 1, 2)};
  sweep_.run(plan, [] { return false; });
  EXPECT_THAT(notes_, ElementsAre("launch 4", "case 2", "case 4", "launch 3", "case 3", "case 2"));
}

TEST_F(SweepRun, ALaunchThatIsResumedNeedsOnlyWhatIsLeftOfIt) {
  const std::vector<PlannedCase> rest{planned(7, 1, 2)};
  sweep_.run(rest, [] { return false; });
  EXPECT_THAT(notes_, ElementsAre("launch 2", "case 2"));
}

TEST_F(SweepRun, ALostRankEndsTheRunAndItsCaseIsARow) {
  backend().lost_ranks = 4;
  const std::vector<PlannedCase> plan{planned(0, 0, 2), planned(1, 0, 4), planned(2, 0, 3)};
  EXPECT_THROW(sweep_.run(plan, [] { return false; }), Error);
  ASSERT_EQ(rows_.all.size(), 2u);
  EXPECT_EQ(rows_.all[0].result.status, Status::ok);
  EXPECT_EQ(rows_.all[1].result.status, Status::failed);
  EXPECT_EQ(rows_.all[1].result.reason, "lost: rank 1 is gone");
}

TEST_F(SweepRun, EveryErrorOfACaseIsARowThatSaysWhichKindItWas) {
  backend().lost_ranks = 4;
  const std::vector<PlannedCase> plan{planned(0, 0, 4)};
  const auto reason_of = [&](ErrorKind kind) {
    backend().kind = kind;
    EXPECT_THROW(sweep_.run(plan, [] { return false; }), Error);
    return rows_.all.back().result.reason;
  };
  EXPECT_EQ(reason_of(ErrorKind::broken), "broken: rank 1 is gone");
  EXPECT_EQ(rows_.all.back().result.status, Status::failed);
  EXPECT_EQ(exit_status(sweep_.tally(), Missing::refused), 1);
  EXPECT_EQ(reason_of(ErrorKind::timed_out), "timed out: rank 1 is gone");
  EXPECT_EQ(reason_of(ErrorKind::absent), "rank 1 is gone");
  EXPECT_EQ(rows_.all.back().result.status, Status::skipped);
  const std::size_t rows = rows_.all.size();
  (void)reason_of(ErrorKind::interrupted);
  EXPECT_EQ(rows_.all.size(), rows);
}

}  // namespace
}  // namespace collmark
