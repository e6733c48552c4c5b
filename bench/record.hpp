/// One row of results.csv: one case of one launch. docs/records.md explains every column.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/backend.hpp"
#include "collectives/units.hpp"

namespace collmark {

inline constexpr int kRecordSchema = 1;

struct Record {
  std::string run_id;
  int launch = 0;  // from 0
  int seq = 0;     // position in the run, from 0; with the seed it says what was measured before
  std::string time_utc;
  std::string machine;
  std::string backend;
  Case c;
  CaseResult result;
  std::optional<Bytes> wire_formula = {};
  std::optional<Seconds> model = {};
};

/// Names in order; the first of them are a contract, new ones are added at the end.
[[nodiscard]] std::vector<std::string_view> record_columns();
/// Both end in a newline. A cell without a value is empty, never nan or inf.
[[nodiscard]] std::string csv_header();
[[nodiscard]] std::string csv_row(const Record& record);
/// The cells of a row, one per column, quoted where they must be.
[[nodiscard]] std::vector<std::string> record_cells(const Record& record);

/// RFC 4180: quoted where it holds a comma, a quote or a line's end.
[[nodiscard]] std::string csv_cell(std::string_view text);
/// "2026-11-29T19:05:00Z", now.
[[nodiscard]] std::string utc_now();

/// size over median time, and that times the collective's factor (closed_form.hpp), in 1e9 B/s.
/// Empty where no time was measured or nothing is moved.
[[nodiscard]] std::optional<double> algbw(const Record& record);
[[nodiscard]] std::optional<double> busbw(const Record& record);

}  // namespace collmark
