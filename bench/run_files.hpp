/// The CSV of a run and the run.json beside it: opened before anything is measured, grown by whole
/// rows, resumed or added to. Sweep and step share it.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/csv_file.hpp"
#include "bench/csv_reader.hpp"
#include "bench/run_record.hpp"
#include "bench/sweep_run.hpp"

namespace collmark {

/// What happens to a --csv that exists.
enum class Existing { refuse, resume, append };

/// A new file, or one that is continued.
[[nodiscard]] CsvFile open_csv(const std::string& path, Existing existing, std::string_view header);

struct RunTarget {
  std::string csv;  // empty: no file is written
  std::string header;
  Existing existing = Existing::refuse;
};

class RunFiles {
 public:
  /// Throws Error{usage} if a file cannot be written, or if --resume meets the rows of another
  /// configuration, machine or program.
  RunFiles(const RunTarget& target, RunRecord run);

  /// Those of a plan that no row found by --resume tells of.
  template <class Planned>
  [[nodiscard]] std::vector<Planned> unfinished(std::vector<Planned> plan) const {
    std::erase_if(plan, [this](const Planned& planned) { return done_.contains(planned.seq); });
    return plan;
  }
  /// How the cases ended whose rows --resume found.
  [[nodiscard]] const SweepTally& found() const { return found_; }
  /// Removes the CSV that this run has begun: another output of it cannot be written.
  void take_back();

  void begin(int to_measure);
  /// All rows of one finished case.
  void append(std::string_view rows);
  /// Known for good only now, where ranks are processes that the run has started itself.
  void note_devices(std::vector<std::string> devices) { run_.devices = std::move(devices); }
  void end();

  [[nodiscard]] const RunRecord& run() const { return run_; }

 private:
  void resume(const RunTarget& target);
  void remember_done(const CsvTable& rows, std::size_t row);
  void remember_earlier();
  void write_run_record() const;

  RunRecord run_;
  std::optional<CsvFile> csv_;
  std::string record_path_;  // empty if there is no CSV, or no place beside it
  std::string created_;      // the CSV, if this run began it
  std::set<int> done_;       // seq of the rows found by --resume
  SweepTally found_;
};

/// Calls `measure`. If it is interrupted, the error says what `csv` keeps of `run`, and how to go
/// on.
void measure_resumably(const RunRecord& run, const std::string& csv,
                       const std::function<void()>& measure);

/// How this program was called.
[[nodiscard]] std::vector<std::string> command_line();

/// One line for stderr if rows that --resume found tell of failures; their exit code is the run's.
[[nodiscard]] std::string failed_before(const SweepTally& found, const std::string& csv);

/// What to know before reading the times: a host that is not quiet, more ranks than cores. One line
/// each, for stderr.
[[nodiscard]] std::string warnings(const RunRecord& run, int most_ranks);

}  // namespace collmark
