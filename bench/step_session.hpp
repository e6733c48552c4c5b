/// The files and the screen of one bucket sweep: every finished step goes to all of them at once.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/progress.hpp"
#include "bench/run_files.hpp"
#include "bench/step_flags.hpp"
#include "bench/step_run.hpp"
#include "bench/step_table.hpp"
#include "bench/step_verdict.hpp"
#include "bench/team.hpp"

namespace collmark {

class StepSession : public StepObserver {
 public:
  /// Opens or creates the files before anything is measured. Throws Error{usage} as RunFiles does.
  StepSession(const StepFlags& flags, const StepConfig& config, RunRecord run);

  /// Those steps that no row tells of yet.
  [[nodiscard]] std::vector<PlannedStep> unfinished(std::vector<PlannedStep> plan) const;

  void begin(std::span<const PlannedStep> rest);
  void starting(const PlannedStep& planned) override;
  void finished(const StepRecord& record) override;
  /// Closes the run's record and prints what it comes to: sentences, or the JSON document.
  void end(std::vector<std::string> devices);

  [[nodiscard]] const RunRecord& run() const { return files_.run(); }
  [[nodiscard]] const SweepTally& found() const { return files_.found(); }

 private:
  void open_buckets(const StepFlags& flags);

  RunFiles files_;
  std::optional<CsvFile> buckets_;
  StepTable table_;
  Dtype dtype_;
  std::optional<nlohmann::json> document_;  // with --json
  std::vector<StepPoint> points_;
  Progress progress_;
  std::optional<Countdown> countdown_;  // since begin()
};

/// The verified points of an earlier part of the run, for the verdict of a resumed one.
[[nodiscard]] std::vector<StepPoint> points_in(const std::string& csv, std::string_view run_id);

}  // namespace collmark
