/// A program that runs beside this one, with its three standard streams in our hands.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace collmark {

struct ChildCommand {
  std::vector<std::string> words;        // the first is its path
  std::vector<std::string> environment;  // NAME=value, added to ours or in place of it
};

/// In a process group of its own, so that a terminal's Ctrl-C reaches only us. It is told to end when this
/// process ends, however that comes about.
class ChildProcess {
 public:
  enum class From { out, err };
  struct Line {
    From from;
    std::string text;
  };

  ///   Throws   Error{absent} with the system's words if it cannot be started.
  explicit ChildProcess(const ChildCommand& command);
  /// Ends it, gently at first: it may have processes of its own to end.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// With the line's end.  Throws Error{lost} if nobody reads it any more.
  void write_line(std::string_view text);
  /// The next whole line of either stream, without its end; empty if none has come in that time.
  [[nodiscard]] std::optional<Line> next_line(std::chrono::milliseconds wait);
  /// Both streams are at their end, and every line was taken.
  [[nodiscard]] bool silent() const;

  void close_input();
  /// True once it has ended by itself.
  [[nodiscard]] bool ended_within(std::chrono::milliseconds time);
  /// How it ended: "exit code 3", "killed by signal 9"; call it after it has.
  [[nodiscard]] std::string ending() const;
  void end() noexcept;

 private:
  struct Stream {
    int descriptor = -1;
    std::string text;  // read, not yet taken
  };

  void read_some(std::chrono::milliseconds wait);
  [[nodiscard]] std::optional<Line> taken();
  [[nodiscard]] bool has_ended();

  pid_t pid_ = -1;
  int input_ = -1;
  std::array<Stream, 2> streams_;  // by From
  std::optional<int> status_;      // as waitpid tells it
};

}  // namespace collmark
