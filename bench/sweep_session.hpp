/// The files and the screen of one sweep: every finished row goes to all of them at once.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/csv_file.hpp"
#include "bench/progress.hpp"
#include "bench/run_files.hpp"
#include "bench/sweep_flags.hpp"
#include "bench/sweep_run.hpp"
#include "bench/sweep_table.hpp"

namespace collmark {

class SweepSession : public SweepObserver {
 public:
  /// Opens or creates the files before anything is measured. Throws Error{usage} if one cannot be
  /// written, or if --resume meets the rows of another configuration.
  SweepSession(const SweepFlags& flags, const SweepConfig& config, RunRecord run);

  /// Those cases that no row tells of yet.
  [[nodiscard]] std::vector<PlannedCase> unfinished(std::vector<PlannedCase> plan) const;

  void begin(std::span<const PlannedCase> rest);
  void starting(const PlannedCase& planned) override;
  void finished(const Record& record) override;
  /// Prints the comparison and closes the run's record, with the devices that were used.
  void end(std::vector<std::string> devices);

  [[nodiscard]] const RunRecord& run() const { return files_.run(); }
  [[nodiscard]] const SweepTally& found() const { return files_.found(); }

 private:
  RunFiles files_;
  SweepTable table_;
  std::optional<CsvFile> samples_;
  std::vector<Record> records_;
  Progress progress_;
  std::optional<Countdown> countdown_;  // since begin()
};

}  // namespace collmark
