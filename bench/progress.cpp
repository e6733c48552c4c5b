#include "bench/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "bench/launcher.hpp"
#include "bench/output.hpp"
#include "bench/table.hpp"

namespace collmark {
namespace {

constexpr std::chrono::milliseconds kBetweenRedraws{100};
constexpr const char* kStartOfClearedLine = "\r\x1b[K";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kNormal = "\x1b[0m";

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string progress_line(const ProgressState& state) {
  return fmt::format("[{}/{}] {}{}", state.done + 1, state.total, state.what,
                     state.left ? fmt::format("; {} left", readable_wait(*state.left)) : "");
}

ProgressState Countdown::state(std::string what) const {
  ProgressState state{.what = std::move(what), .done = done_, .total = total_};
  if (done_ > 0)
    state.left = Seconds(std::chrono::steady_clock::now() - began_) / done_ * (total_ - done_);
  return state;
}

ProgressStyle progress_style() {
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  if (dumb || isatty(STDERR_FILENO) == 0 || launcher()) return ProgressStyle::plain;
  return is_set("NO_COLOR") ? ProgressStyle::redraw : ProgressStyle::redraw_dim;
}

Progress::Progress(ProgressStyle style, std::chrono::milliseconds plain_pause)
    : style_(style),
      pause_(style == ProgressStyle::plain ? plain_pause : kBetweenRedraws),
      last_(Clock::now()) {}

void Progress::show(const ProgressState& state) {
  const auto now = Clock::now();
  const bool plain = style_ == ProgressStyle::plain;
  if (now - last_ < pause_ && (plain || drawn_)) return;
  last_ = now;
  std::string line = progress_line(state);
  if (plain) return say("collmark: " + line + "\n");
  line.resize(std::min(line.size(), terminal_width() - 1));  // a wrapped line cannot be drawn over
  const bool dim = style_ == ProgressStyle::redraw_dim;
  say(fmt::format("{}{}{}{}", kStartOfClearedLine, dim ? kDim : "", line, dim ? kNormal : ""));
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_) say(kStartOfClearedLine);
  drawn_ = false;
}

}  // namespace collmark
