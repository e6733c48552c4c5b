#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "bench/measure.hpp"
#include "bench/meeting_team.hpp"

namespace collmark {
namespace {

/// Ends at once on rank 0 and late on rank 1; rank 0 sees whether it checks in the meantime.
class UnevenOperation final : public Operation {
 public:
  using Finished = std::array<std::atomic<int>, 2>;  // [rank]: operations

  UnevenOperation(Finished& finished, int rank) : finished_(finished), rank_(rank) {}
  OperationTraits traits() const override { return {}; }
  void rewrite_input() override {}
  void run() override {
    if (rank_ != 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ++finished_[static_cast<std::size_t>(rank_)];
  }
  Check check() const override {
    if (finished_[1] < finished_[0]) too_early_ = true;
    return {};
  }
  void evict() override {}
  Moved moved() const override { return {}; }
  bool too_early() const { return too_early_; }

 private:
  Finished& finished_;
  int rank_;
  mutable bool too_early_ = false;
};

TEST(Measure, NobodyChecksWhileAnotherIsStillAtWork) {
  Meeting meeting(2);
  UnevenOperation::Finished finished{};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      MeetingTeam team(meeting, rank);
      UnevenOperation operation(finished, rank);
      (void)measure(team, operation, {.warmups = 3, .most_iterations = 5});
      EXPECT_FALSE(operation.too_early()) << "rank " << rank;
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace collmark
