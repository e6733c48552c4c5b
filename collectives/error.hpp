/// What can go wrong, and the exit code that says so. Library code throws; bench/main.cpp prints
/// one line and exits.
#pragma once

#include <stdexcept>
#include <string>

namespace collmark {

enum class ErrorKind {
  broken = 1,  // a bug of ours
  usage = 2,   // bad flag, file or value; an output that cannot be written, seen before measuring
  regression = 3,     // slower than the baseline
  inconclusive = 4,   // no verdict, with --strict
  wrong_result = 5,   // a collective computed something else than the reference
  incomparable = 6,   // nothing measured, or nothing to compare with
  timed_out = 7,      // a hang: rank, step and peer are in the message
  lost = 8,           // a rank, process or device is gone
  output_failed = 9,  // disk full in mid-run; finished rows are whole
  absent = 77,        // a backend asked for by name is not here
  interrupted = 130,  // SIGINT or SIGTERM; finished rows are kept
};

/// One clear line: what, where, what would be right.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

[[nodiscard]] constexpr int exit_code(ErrorKind kind) { return static_cast<int>(kind); }

}  // namespace collmark
