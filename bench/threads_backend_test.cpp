#include "bench/threads_backend.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

/// Sets a variable for the life of a test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

Case quick(Elements count, int ranks) {
  Case c{.ranks = ranks, .count = count};
  c.measure.warmups = 1;
  c.measure.most_iterations = 5;
  return c;
}

CaseResult run(const Case& c, std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
  ThreadsBackend backend({.timeout = timeout});
  return backend.run(c);
}

TEST(ThreadsBackend, EveryAlgorithmIsMeasuredAndRight_OrSkippedWithAReason) {
  for (const Algorithm& algorithm : catalogue())
    for (const int ranks : {1, 2, 3, 4})
      for (const std::int64_t count : {0, 1, 1003})
        for (const Placement placement : kPlacements) {
          Case c = quick({count}, ranks);
          c.collective = algorithm.collective;
          c.algorithm = algorithm.name;
          c.placement = placement;
          c.measure.most_iterations = 2;
          const CaseResult result = run(c);
          const std::string what = std::string(name(c.collective)) + " " + c.algorithm + " ranks " +
                                   std::to_string(ranks) + " count " + std::to_string(count);
          if (result.status == Status::skipped)
            EXPECT_FALSE(result.reason.empty()) << what;
          else
            EXPECT_EQ(result.status, Status::ok) << what << ": " << result.reason;
        }
}

TEST(ThreadsBackend, RingMovesTheBytesOfItsFormula) {
  const CaseResult result = run(quick({4 * 1024}, 4));
  ASSERT_TRUE(result.wire_busiest);
  EXPECT_EQ(result.wire_busiest->value, 2 * (4 - 1) * 16 * 1024 / 4);  // 2K(P-1)/P
  EXPECT_EQ(result.messages_busiest, 2 * (4 - 1));
  EXPECT_EQ(result.rounds, 6);
  EXPECT_EQ(result.chunk, Bytes{4 * 1024});
}

TEST(ThreadsBackend, MoreRanksThanCoresAreFlagged) {
  const int cores = static_cast<int>(this_host().cores.size());
  EXPECT_FALSE(run(quick({16}, cores)).oversubscribed);
  EXPECT_TRUE(run(quick({16}, cores + 1)).oversubscribed);
}

TEST(ThreadsBackend, AllToAllInPlaceIsSkipped) {
  Case c = quick({16}, 2);
  c.collective = Collective::all_to_all;
  c.algorithm = "pairwise";
  EXPECT_EQ(run(c).status, Status::skipped);
  c.placement = Placement::out_of_place;
  EXPECT_EQ(run(c).status, Status::ok);
}

TEST(ThreadsBackend, ACorruptedResultFailsTheCaseAndNamesThePlace) {
  const Environment hook("COLLMARK_TEST_CORRUPT", "1");
  const CaseResult result = run(quick({1000}, 2));
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_NE(result.reason.find("rank 1, element 500: got "), std::string::npos) << result.reason;
}

TEST(ThreadsBackend, ACorruptionInASingleTimedOperationFailsTheCase) {
  const Environment hook("COLLMARK_TEST_CORRUPT", "0@4");
  // Long enough never to be timed in batches, of which only the last result can be looked at.
  const CaseResult result = run(quick({1 << 16}, 2));
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_EQ(result.measurement.check.wrong, 1);
}

TEST(ThreadsBackend, ARankThatNeverArrivesIsNamedWithStepAndPeer) {
  const Environment hook("COLLMARK_TEST_ABSENT_RANK", "1");
  try {
    (void)run(quick({1000}, 2), std::chrono::milliseconds(200));
    FAIL() << "ran without one of its ranks";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::timed_out);
    const std::string what = e.what();
    EXPECT_NE(what.find("rank 0"), std::string::npos) << what;
    EXPECT_NE(what.find("step 0"), std::string::npos) << what;
    EXPECT_NE(what.find("for rank 1"), std::string::npos) << what;
  }
}

TEST(ThreadsBackend, AnInterruptThatComesBeforeTheRanksStartIsNotLost) {
  ThreadsBackend backend({});
  backend.interrupt();
  try {
    (void)backend.run(quick({1000}, 2));
    FAIL() << "was not interrupted";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::interrupted);
  }
}

TEST(ThreadsBackend, InterruptEndsARunningCase) {
  ThreadsBackend backend({});
  Case c = quick({1 << 16}, 2);
  c.measure.most_iterations = 1'000'000'000;
  c.measure.narrow_enough = 0.0;
  c.measure.time_budget = Seconds{60.0};
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    backend.interrupt();
  });
  try {
    (void)backend.run(c);
    ADD_FAILURE() << "was not interrupted";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::interrupted);
  }
  other.join();
}

TEST(ThreadsBackend, MemoryNeededCoversBothBuffersOfEveryRank) {
  const ThreadsBackend backend({});
  Case c = quick({1 << 20}, 3);
  c.placement = Placement::out_of_place;
  EXPECT_GE(backend.memory_needed(c).value, 3 * 2 * 4 * (1 << 20));
}

TEST(Backend, EveryKnownNameCanBeMade_AbsentOnesSayWhy) {
  for (const std::string& name : backend_names()) {
    const auto backend = make_backend(name, {});
    EXPECT_EQ(backend->name(), name);
    EXPECT_EQ(backend->availability().here, backend->availability().reason.empty());
  }
}

TEST(Backend, UnknownNameSuggestsTheNearest) {
  try {
    (void)make_backend("thread", {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("threads"), std::string::npos);
  }
}

}  // namespace
}  // namespace collmark
