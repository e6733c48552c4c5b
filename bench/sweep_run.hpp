/// Runs a planned sweep case by case and reports each as a record.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/backend.hpp"
#include "bench/record.hpp"
#include "bench/sweep_config.hpp"
#include "collectives/error.hpp"

namespace collmark {

/// What happens during a sweep, in order; called from the thread that runs it.
class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  virtual void starting(const PlannedCase& planned) = 0;
  /// The row of the case that was started last. May throw, which ends the sweep.
  virtual void finished(const Record& record) = 0;
};

struct SweepTally {
  int ok = 0;
  int skipped = 0;  // absent ones too
  int absent = 0;   // their backend is not here
  int wrong = 0;
  int timed_out = 0;
  int lost = 0;
  int broken = 0;  // by a bug of ours

  [[nodiscard]] int failed() const { return wrong + timed_out + lost + broken; }
  void add(Status status, std::string_view reason);
};

[[nodiscard]] SweepTally operator+(const SweepTally& a, const SweepTally& b);

/// Which missing backends the user has agreed to.
enum class Missing { refused, allowed };
/// 0, how the gravest failure ended, absent or "nothing measured", in words of exit codes.
[[nodiscard]] int exit_status(const SweepTally& tally, Missing missing);

/// The reason of a case that ended its run: begins with a word for the kind of error, by which
/// SweepTally tells it again from a row.
[[nodiscard]] std::string failure(const Error& e);

struct CaseEnd {
  Status status = Status::failed;
  std::string reason = {};
};
/// What stands in the row of a case that ended its run with `e`, the exception that is being handled: nothing, if it is
/// none of the case's.
[[nodiscard]] std::optional<CaseEnd> end_of_case(const std::exception& e);

struct RunIdentity {
  std::string run_id;
  std::string machine;
};

using Backends = std::vector<std::unique_ptr<Backend>>;

class Sweep {
 public:
  Sweep(RunIdentity identity, const Backends& backends, SweepObserver& observer)
      : identity_(std::move(identity)), backends_(backends), observer_(observer) {}

  /// Runs the cases in order until the end or until `stopped` says so. A case that times out or
  /// loses a rank is reported as a failed row before its Error goes on. Throws Error{interrupted}
  /// when stopped.
  void run(std::span<const PlannedCase> plan, const std::function<bool()>& stopped);

  [[nodiscard]] const SweepTally& tally() const { return tally_; }

 private:
  void begin_launch(std::span<const PlannedCase> rest);
  [[nodiscard]] CaseResult result_of(const PlannedCase& planned, Backend& backend);
  void report(const PlannedCase& planned, Backend& backend, CaseResult result);

  RunIdentity identity_;
  const Backends& backends_;
  SweepObserver& observer_;
  SweepTally tally_;
};

}  // namespace collmark
