/// The rows that `step` writes: one per point of the bucket sweep and launch, and in a second file
/// one per bucket. docs/records.md explains every column.
#pragma once

#include <string>

#include "bench/record.hpp"
#include "bench/step_backend.hpp"
#include "bench/step_config.hpp"

namespace collmark {

/// The identity columns of results.csv mean the same here. One operation is one step: its size is
/// that of all gradients, its wire bytes are those of all buckets.
struct StepRecord {
  Record base;
  StepCase c;
  StepResult result;
};

[[nodiscard]] StepRecord step_record(Record base, StepCase c, StepResult result);

/// The columns of results.csv with bucket_bytes filled in, then those of a step.
[[nodiscard]] std::string step_csv_header();
[[nodiscard]] std::string step_csv_row(const StepRecord& record);

/// One row per bucket, in the order sent; empty for a step that was skipped.
[[nodiscard]] std::string bucket_csv_header();
[[nodiscard]] std::string bucket_csv_rows(const StepRecord& record);

/// `x.csv` -> `x.buckets.csv`.
[[nodiscard]] std::string bucket_csv_path(const std::string& csv_path);

}  // namespace collmark
