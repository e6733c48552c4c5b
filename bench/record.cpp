#include "bench/record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include "bench/gpu_knobs.hpp"
#include "bench/table.hpp"
#include "collectives/closed_form.hpp"

namespace collmark {
namespace {

constexpr int kDigits = 6;  // significant; the clock is good for fewer

std::string text(double value) { return rounded(value, kDigits); }
std::string text(Bytes value) { return std::to_string(value.value); }
std::string text(int value) { return std::to_string(value); }
std::string text(std::string_view value) { return csv_cell(value); }

template <class T>
std::string text(const std::optional<T>& value) {
  return value ? text(*value) : "";
}

/// Cells that only a case that was timed can fill.
bool timed(const Record& r) {
  return r.result.status != Status::skipped && r.result.measurement.time.n > 0;
}

std::string microseconds(const Record& r, double seconds) {
  return timed(r) ? text(seconds * 1e6) : "";
}

template <class T>
std::string if_timed(const Record& r, const T& value) {
  return timed(r) ? text(value) : "";
}

const Summary& times(const Record& r) { return r.result.measurement.time; }

struct RecordColumn {
  std::string_view name;
  std::string (*cell)(const Record&);
};

// The order is a contract. A case that was not timed has its identity, a status and a reason.
constexpr RecordColumn kColumns[] = {
    {"schema", [](const Record&) { return text(kRecordSchema); }},
    {"run_id", [](const Record& r) { return text(r.run_id); }},
    {"launch", [](const Record& r) { return text(r.launch); }},
    {"seq", [](const Record& r) { return text(r.seq); }},
    {"time_utc", [](const Record& r) { return text(r.time_utc); }},
    {"machine", [](const Record& r) { return text(r.machine); }},
    {"backend", [](const Record& r) { return text(r.backend); }},
    {"implementation", [](const Record& r) { return text(r.result.implementation); }},
    {"collective", [](const Record& r) { return text(name(r.c.collective)); }},
    {"algorithm", [](const Record& r) { return text(r.result.algorithm); }},
    {"ranks", [](const Record& r) { return text(r.c.ranks); }},
    {"nodes", [](const Record& r) { return text(r.result.nodes); }},
    {"size_bytes", [](const Record& r) { return text(r.c.size()); }},
    {"count", [](const Record& r) { return std::to_string(r.c.count.value); }},
    {"dtype", [](const Record& r) { return text(name(r.c.dtype)); }},
    {"op", [](const Record& r) { return reduces(r.c.collective) ? text(name(r.c.op)) : ""; }},
    {"root", [](const Record& r) { return has_root(r.c.collective) ? text(r.c.root) : ""; }},
    {"placement", [](const Record& r) { return text(name(r.c.placement)); }},
    {"bucket_bytes", [](const Record&) { return std::string(); }},
    {"chunk_bytes", [](const Record& r) { return text(r.result.chunk); }},
    {"warmups", [](const Record& r) { return if_timed(r, r.result.measurement.warmups); }},
    {"iterations", [](const Record& r) { return if_timed(r, r.result.measurement.iterations()); }},
    {"stop_reason",
     [](const Record& r) { return if_timed(r, name(r.result.measurement.stop_reason)); }},
    {"time_us_min", [](const Record& r) { return microseconds(r, times(r).min); }},
    {"time_us_p50", [](const Record& r) { return microseconds(r, times(r).p50); }},
    {"time_us_ci_low",
     [](const Record& r) {
       return times(r).interval ? microseconds(r, times(r).interval->low) : "";
     }},
    {"time_us_ci_high",
     [](const Record& r) {
       return times(r).interval ? microseconds(r, times(r).interval->high) : "";
     }},
    {"time_us_mean", [](const Record& r) { return microseconds(r, times(r).mean); }},
    {"time_us_p95", [](const Record& r) { return microseconds(r, times(r).p95); }},
    {"time_us_p99",
     [](const Record& r) { return times(r).p99 ? microseconds(r, *times(r).p99) : ""; }},
    {"time_us_max", [](const Record& r) { return microseconds(r, times(r).max); }},
    {"algbw_gb_per_s", [](const Record& r) { return text(algbw(r)); }},
    {"busbw_gb_per_s", [](const Record& r) { return text(busbw(r)); }},
    {"wire_bytes_busiest", [](const Record& r) { return text(r.result.wire_busiest); }},
    {"wire_bytes_formula", [](const Record& r) { return text(r.wire_formula); }},
    {"rounds", [](const Record& r) { return text(r.result.rounds); }},
    {"messages_busiest", [](const Record& r) { return text(r.result.messages_busiest); }},
    {"model_us", [](const Record& r) { return r.model ? text(r.model->count() * 1e6) : ""; }},
    {"mode", [](const Record& r) { return text(name(r.c.measure.mode)); }},
    {"cache", [](const Record& r) { return text(name(r.c.measure.cache)); }},
    {"pages", [](const Record& r) { return text(r.result.pages); }},
    {"batch", [](const Record& r) { return if_timed(r, r.result.measurement.batch); }},
    {"flag_ns", [](const Record& r) { return text(r.result.flag_ns); }},
    {"disturbed", [](const Record& r) { return if_timed(r, r.result.measurement.disturbed); }},
    {"late_starts", [](const Record& r) { return if_timed(r, r.result.measurement.late_starts); }},
    {"oversubscribed", [](const Record& r) { return text(r.result.oversubscribed ? 1 : 0); }},
    {"wrong",
     [](const Record& r) {
       const Measurement& m = r.result.measurement;
       return m.looked() ? std::to_string(m.check.wrong) : "";
     }},
    {"status", [](const Record& r) { return text(name(r.result.status)); }},
    {"reason", [](const Record& r) { return text(r.result.reason); }},
    {"flag_after_ns", [](const Record& r) { return text(r.result.flag_after_ns); }},
    {"device", [](const Record& r) { return text(r.result.device); }},
    {"devices", [](const Record& r) { return text(r.result.devices); }},
    {"tuning", [](const Record& r) { return text(r.result.tuning); }},
    {"sm_mhz", [](const Record& r) { return text(r.result.gpu_before.sm_mhz); }},
    {"sm_after_mhz", [](const Record& r) { return text(r.result.gpu_after.sm_mhz); }},
    {"memory_mhz", [](const Record& r) { return text(r.result.gpu_before.memory_mhz); }},
    {"memory_after_mhz", [](const Record& r) { return text(r.result.gpu_after.memory_mhz); }},
    {"power_w", [](const Record& r) { return text(r.result.gpu_before.watts); }},
    {"power_after_w", [](const Record& r) { return text(r.result.gpu_after.watts); }},
    {"temperature_c", [](const Record& r) { return text(r.result.gpu_before.celsius); }},
    {"temperature_after_c", [](const Record& r) { return text(r.result.gpu_after.celsius); }},
    {"throttled",
     [](const Record& r) {
       const auto held_back = worst(r.result.gpu_before, r.result.gpu_after).held_back;
       return held_back ? throttling(*held_back) : std::string();
     }},
    {"asked_tuning", [](const Record& r) { return text(asked_text(r.c.tuning)); }},
};

}  // namespace

std::vector<std::string_view> record_columns() {
  std::vector<std::string_view> names;
  for (const RecordColumn& column : kColumns) names.push_back(column.name);
  return names;
}

std::string csv_header() { return fmt::format("{}\n", fmt::join(record_columns(), ",")); }

std::vector<std::string> record_cells(const Record& record) {
  std::vector<std::string> cells;
  for (const RecordColumn& column : kColumns) cells.push_back(column.cell(record));
  return cells;
}

std::string csv_row(const Record& record) {
  return fmt::format("{}\n", fmt::join(record_cells(record), ","));
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c == '\n' || c == '\r' ? ' ' : c;  // one row is one line
  }
  return quoted + "\"";
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

/// An all_to_all of fewer elements than ranks has empty blocks.
bool moves_nothing(const Case& c) {
  return c.count.value < (c.collective == Collective::all_to_all ? c.ranks : 1);
}

std::optional<double> algbw(const Record& r) {
  if (!timed(r) || times(r).p50 <= 0.0 || moves_nothing(r.c)) return std::nullopt;
  return static_cast<double>(r.c.size().value) / times(r).p50 / 1e9;
}

std::optional<double> busbw(const Record& r) {
  const std::optional<double> bandwidth = algbw(r);
  const std::optional<double> factor = bus_factor(r.c.collective, r.c.ranks);
  if (!bandwidth || !factor) return std::nullopt;
  return *bandwidth * *factor;
}

}  // namespace collmark
