#include "bench/progress.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace collmark {
namespace {

TEST(Progress, Line_NamesTheCaseItsNumberAndTheTimeLeft) {
  EXPECT_EQ(progress_line({.what = "ring, 4 ranks", .done = 2, .total = 120, .left = Seconds{125}}),
            "[3/120] ring, 4 ranks; 2 min 05 s left");
  EXPECT_EQ(progress_line({.what = "ring", .done = 0, .total = 1}), "[1/1] ring");
}

TEST(Countdown, TimeLeft_IsUnknownAtFirstAndNoneAtTheEnd) {
  Countdown countdown(2);
  EXPECT_EQ(countdown.state("ring").left, std::nullopt);
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  countdown.finished_one();
  const ProgressState half = countdown.state("tree");
  EXPECT_EQ(half.what, "tree");
  EXPECT_EQ(half.done, 1);
  EXPECT_EQ(half.total, 2);
  ASSERT_TRUE(half.left.has_value());
  EXPECT_GE(*half.left, Seconds{0.02})
      << "the second piece is expected to take as long as the first";
  countdown.finished_one();
  EXPECT_EQ(countdown.state("").left, Seconds{0});
}

TEST(Progress, PlainStyle_IsWholeLinesWithoutControlCharacters) {
  testing::internal::CaptureStderr();
  {
    Progress progress(ProgressStyle::plain, std::chrono::milliseconds{0});
    progress.show({.what = "ring", .done = 0, .total = 2});
    progress.show({.what = "tree", .done = 1, .total = 2});
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "collmark: [1/2] ring\ncollmark: [2/2] tree\n");
}

TEST(Progress, PlainStyle_SaysNothingOfWhatIsDoneAtOnce) {
  testing::internal::CaptureStderr();
  {
    Progress progress(ProgressStyle::plain);
    for (int i = 0; i < 5; ++i) progress.show({.what = "ring", .done = i, .total = 5});
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, RedrawnLine_IsGoneAtTheEnd) {
  testing::internal::CaptureStderr();
  {
    Progress progress(ProgressStyle::redraw);
    progress.show({.what = "ring", .done = 0, .total = 5});
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "\r\x1b[K[1/5] ring\r\x1b[K");
}

TEST(Progress, NoColour_LeavesOutTheColourOnly) {
  testing::internal::CaptureStderr();
  {
    Progress progress(ProgressStyle::redraw_dim);
    progress.show({.what = "ring", .done = 0, .total = 5});
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "\r\x1b[K\x1b[2m[1/5] ring\x1b[0m\r\x1b[K");
}

TEST(Progress, FileOrPipe_IsPlain) {
  testing::internal::CaptureStderr();  // stderr is a file now
  EXPECT_EQ(progress_style(), ProgressStyle::plain);
  (void)testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace collmark
