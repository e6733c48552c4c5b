#include "bench/sweep_session.hpp"

#include <fmt/format.h>

#include <utility>

#include "bench/gpu_knobs.hpp"
#include "bench/output.hpp"
#include "bench/samples.hpp"
#include "bench/sweep_comparison.hpp"

namespace collmark {

SweepSession::SweepSession(const SweepFlags& flags, const SweepConfig& config, RunRecord run)
    : files_({.csv = flags.csv, .header = csv_header(), .existing = flags.existing()},
             std::move(run)),
      table_(config) {
  if (flags.samples.empty()) return;
  try {
    samples_.emplace(open_csv(flags.samples, flags.existing(), samples_header()));
  } catch (...) {
    files_.take_back();
    throw;
  }
}

std::vector<PlannedCase> SweepSession::unfinished(std::vector<PlannedCase> plan) const {
  return files_.unfinished(std::move(plan));
}

void SweepSession::begin(std::span<const PlannedCase> rest) {
  files_.begin(static_cast<int>(rest.size()));
  put(table_.header());
  flush_output();
  countdown_.emplace(static_cast<int>(rest.size()));
}

void SweepSession::starting(const PlannedCase& planned) {
  const Case& c = planned.c;
  const std::string tuning = asked_text(c.tuning);
  progress_.show(countdown_->state(fmt::format("{} {}{}{}, {} ranks, {}", name(c.collective),
                                               c.algorithm, tuning.empty() ? "" : " ", tuning,
                                               c.ranks, readable(c.size()))));
}

void SweepSession::finished(const Record& record) {
  progress_.clear();
  put(table_.row(record));
  flush_output();
  files_.append(csv_row(record));
  if (samples_) samples_->append(samples_rows(record));
  countdown_->finished_one();
  records_.push_back(record);
  records_.back().result.measurement.samples.clear();
}

void SweepSession::end(std::vector<std::string> devices) {
  progress_.clear();
  put(comparison(records_));
  files_.note_devices(std::move(devices));
  files_.end();
  flush_output();
}

}  // namespace collmark
