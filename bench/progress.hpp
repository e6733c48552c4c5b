/// What is running, how far, and how long it will take: one line on stderr.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "collectives/units.hpp"

namespace collmark {

struct ProgressState {
  std::string what;  // "ring, 4 ranks, 64 KiB"
  int done = 0;      // of total, finished
  int total = 0;
  std::optional<Seconds> left = std::nullopt;  // empty: unknown yet
};

/// "[3/120] ring, 4 ranks, 64 KiB; 2 min 05 s left"
[[nodiscard]] std::string progress_line(const ProgressState& state);

/// Starts when it is made; expects what is left to take as long a piece as what is done.
class Countdown {
 public:
  explicit Countdown(int total) : total_(total) {}

  void finished_one() { ++done_; }
  [[nodiscard]] ProgressState state(std::string what) const;

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  int total_;
  int done_ = 0;
};

/// How stderr may be used.
enum class ProgressStyle {
  redraw_dim,  // a terminal: one line drawn over and over, dimmed
  redraw,      // the same without colour (NO_COLOR, see no-color.org)
  plain,       // a file, a pipe, TERM=dumb or a launcher between: a whole line now and then
};
[[nodiscard]] ProgressStyle progress_style();

/// Draws to stderr. Call `clear` before anything else is printed: the line must not stand in the
/// middle of a row.
class Progress {
 public:
  /// Plain lines come at most once every `plain_pause`, the first one after that time: what is done
  /// at once needs no words.
  explicit Progress(ProgressStyle style = progress_style(),
                    std::chrono::milliseconds plain_pause = std::chrono::seconds{10});
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const ProgressState& state);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  ProgressStyle style_;
  std::chrono::milliseconds pause_;  // between two lines, or two drawings of the line
  bool drawn_ = false;
  Clock::time_point last_;
};

}  // namespace collmark
