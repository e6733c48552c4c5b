#include "bench/watchdog.hpp"

#include <gtest/gtest.h>

#include <future>

namespace collmark {
namespace {

using namespace std::chrono_literals;

TEST(Watchdog, WhatIsNotLeftIsReportedOnceWithItsName) {
  std::promise<std::string> hang;
  Watchdog dog(50ms, [&](const std::string& what) { hang.set_value(what); });
  dog.enter("in a call");
  std::future<std::string> reported = hang.get_future();
  ASSERT_EQ(reported.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(reported.get(), "has waited 0.05 s in a call");
}

TEST(Watchdog, ManyShortWaitsAreNoHang) {
  std::atomic<bool> reported{false};
  Watchdog dog(200ms, [&](const std::string&) { reported = true; });
  const auto end = std::chrono::steady_clock::now() + 600ms;
  while (std::chrono::steady_clock::now() < end) {
    const Watched watched(dog, "in a call");
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_FALSE(reported);
}

TEST(Watchdog, WorkOutsideOfAWaitMayTakeAnyTime) {
  std::atomic<bool> reported{false};
  Watchdog dog(50ms, [&](const std::string&) { reported = true; });
  { const Watched watched(dog, "in a call"); }
  std::this_thread::sleep_for(300ms);
  EXPECT_FALSE(reported);
}

}  // namespace
}  // namespace collmark
