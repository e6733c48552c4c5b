#include "bench/kernel_flags.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/gpu_knobs.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> asked(const KernelFlags& flags) {
  std::vector<std::string> texts;
  for (const GpuTuning& tuning : flags.tunings()) texts.push_back(asked_text(tuning));
  return texts;
}

std::string refusal(const KernelFlags& flags) {
  try {
    (void)flags.tunings();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    return e.what();
  }
  return "";
}

TEST(KernelFlags, WithoutOneNothingIsAskedFor) { EXPECT_THAT(asked({}), ElementsAre("")); }

TEST(KernelFlags, EveryCombinationIsATuning) {
  EXPECT_THAT(asked({.channels = "4,8", .slot_bytes = "16K:32K:x2", .misaligned = 3}),
              ElementsAre("channels=4 slot_bytes=16384 misaligned=3",
                          "channels=4 slot_bytes=32768 misaligned=3",
                          "channels=8 slot_bytes=16384 misaligned=3",
                          "channels=8 slot_bytes=32768 misaligned=3"));
  const KernelFlags all{
      .channels = "1,2,3", .threads = "32:128:x2", .slots = "2,4", .slot_bytes = "1K,1M"};
  const auto tunings = all.tunings();
  EXPECT_EQ(tunings.size(), 3u * 3 * 2 * 2);
  auto sorted = tunings;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
}

TEST(KernelFlags, AutoIsAValueLikeOthers_AndWhatComesTwiceIsTakenOnce) {
  EXPECT_THAT(asked({.channels = "auto,8,auto,8"}), ElementsAre("", "channels=8"));
  EXPECT_THAT(asked({.threads = "256", .slots = "4,auto,2:4:x2"}),
              ElementsAre("threads=256 slots=4", "threads=256", "threads=256 slots=2"));
}

TEST(KernelFlags, WhatMakesNoSenseIsRefusedWithItsFlag) {
  EXPECT_THAT(refusal({.channels = "0"}), HasSubstr("--channels '0': the least"));
  EXPECT_THAT(refusal({.channels = "4097"}), HasSubstr("--channels '4097': the largest"));
  EXPECT_THAT(refusal({.threads = "256,513"}), HasSubstr("--threads '256,513': the largest"));
  EXPECT_THAT(refusal({.slots = "2,3"}), HasSubstr("--slots '2,3': a link has 2, 4, 8"));
  EXPECT_THAT(refusal({.slots = "2:8"}), HasSubstr("not 3"));
  EXPECT_THAT(refusal({.slots = "1"}), HasSubstr("--slots '1': the least"));
  EXPECT_THAT(refusal({.slot_bytes = "8"}), HasSubstr("--slot-bytes '8': the least"));
  EXPECT_THAT(refusal({.slot_bytes = "257M"}), HasSubstr("--slot-bytes '257M': the largest"));
  EXPECT_THAT(refusal({.slot_bytes = "1K:2K"}), HasSubstr("needs a step"));
  EXPECT_THAT(refusal({.channels = "1:4096", .threads = "1:512"}), HasSubstr("2097152 cases"));
}

}  // namespace
}  // namespace collmark
