#include "bench/core_link.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "bench/pin.hpp"
#include "bench/team.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

/// Threads that want every core of this host, all the time.
class BusyHost {
 public:
  BusyHost() {
    for (const int core : this_host().cores) {
      for (int i = 0; i < 3; ++i)
        threads_.emplace_back([this, core] {
          pin_this_thread(core);
          while (!over_.load(std::memory_order_relaxed)) {
          }
        });
    }
  }
  ~BusyHost() {
    over_ = true;
    for (std::thread& t : threads_) t.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

TEST(FlagTime, ABusyHostCannotHoldItForLong) {
  const std::vector<int> cores = this_host().cores;
  if (cores.size() < 2) GTEST_SKIP() << "needs two cores";
  const BusyHost busy;
  const Clock::time_point start = Clock::now();
  EXPECT_GT(flag_time({cores[0], cores[1]}).count(), 0.0);
  EXPECT_LT(Seconds(Clock::now() - start).count(), 10.0);  // all trips would take half a minute
}

}  // namespace
}  // namespace collmark
