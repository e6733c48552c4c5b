/// Runs planned steps one by one and reports each as a record.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "bench/step_config.hpp"
#include "bench/step_record.hpp"
#include "bench/sweep_run.hpp"

namespace collmark {

/// What happens during a bucket sweep, in order; called from the thread that runs it.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void starting(const PlannedStep& planned) = 0;
  /// The row of the step that was started last. May throw, which ends the sweep.
  virtual void finished(const StepRecord& record) = 0;
};

class StepRun {
 public:
  StepRun(RunIdentity identity, StepBackend& backend, StepObserver& observer)
      : identity_(std::move(identity)), backend_(backend), observer_(observer) {}

  /// Until the end or until `stopped` says so. A step that does not fit into memory is a skipped
  /// row; one that times out or loses a rank is reported as a failed row before its Error goes on.
  /// Throws Error{interrupted} when stopped.
  void run(std::span<const PlannedStep> plan, const std::function<bool()>& stopped);

  [[nodiscard]] const SweepTally& tally() const { return tally_; }

 private:
  [[nodiscard]] StepResult result_of(const PlannedStep& planned);
  void report(const PlannedStep& planned, StepResult result);
  void begin_launch(std::span<const PlannedStep> rest);

  RunIdentity identity_;
  StepBackend& backend_;
  StepObserver& observer_;
  SweepTally tally_;
};

}  // namespace collmark
