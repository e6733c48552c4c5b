#include "kernels/at_once.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <stdexcept>

namespace collmark {
namespace {

TEST(AtOnce, CallsThatWaitForEachOtherComeBack) {
  constexpr int kDevices = 4;
  AtOnce at_once(kDevices);
  std::barrier all(kDevices);
  std::atomic<int> seen{0};
  for (int round = 0; round < 100; ++round)
    at_once.run([&](int device) {
      seen += 1 << device;
      all.arrive_and_wait();
    });
  EXPECT_EQ(seen, 100 * 0b1111);
}

TEST(AtOnce, WhatOneCallThrowsIsThrownOnce) {
  AtOnce at_once(3);
  for (const int bad : {0, 2})
    EXPECT_THROW(at_once.run([&](int device) {
      if (device == bad) throw std::runtime_error("no");
    }),
                 std::runtime_error);
  at_once.run([](int) {});
}

}  // namespace
}  // namespace collmark
