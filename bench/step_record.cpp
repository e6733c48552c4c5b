#include "bench/step_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "bench/formula.hpp"
#include "bench/table.hpp"

namespace collmark {
namespace {

constexpr int kDigits = 6;  // significant, as in results.csv

bool timed(const StepRecord& r) {
  return r.result.base.status != Status::skipped && r.result.base.measurement.time.n > 0;
}

std::string number(Bytes bytes) { return std::to_string(bytes.value); }
std::string number(std::size_t count) { return std::to_string(count); }

std::string microseconds(const StepRecord& r, Seconds time) {
  return timed(r) ? rounded(time.count() * 1e6, kDigits) : "";
}

std::string number(const std::optional<Bytes>& bytes) { return bytes ? number(*bytes) : ""; }

/// Empty if nobody counted.
std::optional<Bytes> sum_of_sent(const StepRecord& r) {
  Bytes sum{};
  for (const BucketResult& b : r.result.buckets) {
    if (!b.sent) return std::nullopt;
    sum += *b.sent;
  }
  return sum;
}

/// Of the buckets of a case that was planned; a skipped one has none.
std::string if_planned(const StepRecord& r, std::string cell) {
  return r.result.buckets.empty() ? "" : std::move(cell);
}

std::string if_run(const StepRecord& r, std::string cell) {
  return r.result.base.status == Status::skipped ? "" : if_planned(r, std::move(cell));
}

Bytes largest(const StepRecord& r) {
  Bytes most{};
  for (const BucketResult& b : r.result.buckets) most = std::max(most, b.bucket.bytes());
  return most;
}

std::string_view cap_source(const StepCase& c) {
  if (c.policy->standard == nullptr) return "none";
  if (c.policy->unit == CapUnit::none) return "fixed";
  return c.config.cap ? "given" : "default";
}

bool has_mixed_dtypes(const StepCase& c) {
  return std::any_of(c.model->tensors.begin(), c.model->tensors.end(),
                     [&](const Tensor& t) { return t.dtype != c.model->tensors.front().dtype; });
}

struct StepColumn {
  std::string_view name;
  std::string (*cell)(const StepRecord&);
};

constexpr StepColumn kColumns[] = {
    {"model", [](const StepRecord& r) { return csv_cell(r.c.model->name); }},
    {"policy", [](const StepRecord& r) { return std::string(r.c.policy->name); }},
    {"cap_source", [](const StepRecord& r) { return std::string(cap_source(r.c)); }},
    {"mean", [](const StepRecord& r) { return std::string(name(r.c.policy->mean)); }},
    {"tensors", [](const StepRecord& r) { return number(r.c.model->tensors.size()); }},
    {"buckets", [](const StepRecord& r) { return if_planned(r, number(r.result.buckets.size())); }},
    {"planned_bytes", [](const StepRecord& r) { return number(bytes_of(r.c.model->tensors)); }},
    {"sent_bytes", [](const StepRecord& r) { return if_run(r, number(sum_of_sent(r))); }},
    {"largest_bucket_bytes", [](const StepRecord& r) { return if_planned(r, number(largest(r))); }},
    {"tail_bytes",
     [](const StepRecord& r) {
       return r.result.buckets.empty() ? "" : number(r.result.buckets.back().bucket.bytes());
     }},
    {"tail_us_p50", [](const StepRecord& r) { return microseconds(r, r.result.tail); }},
    {"pack_us_p50", [](const StepRecord& r) { return microseconds(r, r.result.phases.pack); }},
    {"wire_us_p50", [](const StepRecord& r) { return microseconds(r, r.result.phases.wire); }},
    {"unpack_us_p50", [](const StepRecord& r) { return microseconds(r, r.result.phases.unpack); }},
    {"gradient_memory_bytes",
     [](const StepRecord& r) { return if_planned(r, number(r.result.gradients)); }},
    {"bucket_memory_bytes",
     [](const StepRecord& r) { return if_planned(r, number(r.result.buffers)); }},
    {"scratch_memory_bytes",
     [](const StepRecord& r) { return if_run(r, number(r.result.scratch)); }},
};

/// The cells of results.csv, where a step knows better than one collective does.
std::vector<std::string> identity_cells(const StepRecord& r) {
  std::vector<std::string> cells = record_cells(r.base);
  const auto columns = record_columns();
  const auto set = [&](std::string_view column, std::string cell) {
    const auto at = std::find(columns.begin(), columns.end(), column);
    cells[static_cast<std::size_t>(at - columns.begin())] = std::move(cell);
  };
  const auto cap = cap_in_force(*r.c.policy, r.c.config, r.c.dtype);
  if (cap) set("bucket_bytes", number(*cap));
  if (!has_mixed_dtypes(r.c)) return cells;
  const Bytes size = bytes_of(r.c.model->tensors);
  set("dtype", "mixed");
  set("size_bytes", number(size));
  if (!timed(r)) return cells;
  const double gb_per_s =
      static_cast<double>(size.value) / r.result.base.measurement.time.p50 / 1e9;
  const auto factor = bus_factor(Collective::all_reduce, r.c.ranks());
  set("algbw_gb_per_s", rounded(gb_per_s, kDigits));
  set("busbw_gb_per_s", factor ? rounded(gb_per_s * *factor, kDigits) : "");
  return cells;
}

Case as_one_collective(const StepCase& c, Elements count, Dtype dtype) {
  return {.algorithm = c.algorithm,
          .ranks = c.ranks(),
          .count = count,
          .dtype = dtype,
          .measure = c.measure,
          .tuning = c.tuning};
}

/// Empty if the literature has no formula for some bucket.
std::optional<Bytes> formula_of(const StepCase& c, const std::vector<BucketResult>& buckets) {
  if (buckets.empty()) return std::nullopt;
  Bytes sum{};
  for (const BucketResult& b : buckets) {
    const auto formula = closed_form_of(as_one_collective(c, b.bucket.count, b.bucket.dtype));
    if (!formula) return std::nullopt;
    sum += formula->busiest;
  }
  return sum;
}

}  // namespace

StepRecord step_record(Record base, StepCase c, StepResult result) {
  Elements count{};
  for (const Tensor& t : c.model->tensors) count += t.count;
  base.c = as_one_collective(c, count, c.model->tensors.front().dtype);
  base.result = result.base;
  if (base.result.status != Status::skipped) base.wire_formula = formula_of(c, result.buckets);
  return {.base = std::move(base), .c = std::move(c), .result = std::move(result)};
}

std::string step_csv_header() {
  std::vector<std::string_view> names = record_columns();
  for (const StepColumn& column : kColumns) names.push_back(column.name);
  return fmt::format("{}\n", fmt::join(names, ","));
}

std::string step_csv_row(const StepRecord& record) {
  std::vector<std::string> cells = identity_cells(record);
  for (const StepColumn& column : kColumns) cells.push_back(column.cell(record));
  return fmt::format("{}\n", fmt::join(cells, ","));
}

std::string bucket_csv_header() {
  return "schema,run_id,launch,seq,model,policy,bucket_bytes,algorithm,ranks,bucket,dtype,tensors,"
         "planned_bytes,sent_bytes,wire_bytes_busiest,wire_bytes_formula,messages_busiest,"
         "pack_us_p50,wire_us_p50,unpack_us_p50\n";
}

std::string bucket_csv_rows(const StepRecord& r) {
  if (r.result.base.status == Status::skipped) return "";
  const auto cap = cap_in_force(*r.c.policy, r.c.config, r.c.dtype);
  std::string rows;
  for (std::size_t b = 0; b < r.result.buckets.size(); ++b) {
    const BucketResult& bucket = r.result.buckets[b];
    const auto formula =
        closed_form_of(as_one_collective(r.c, bucket.bucket.count, bucket.bucket.dtype));
    rows += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", kRecordSchema,
        r.base.run_id, r.base.launch, r.base.seq, csv_cell(r.c.model->name), r.c.policy->name,
        cap ? number(*cap) : "", csv_cell(r.c.algorithm), r.c.ranks(), b, name(bucket.bucket.dtype),
        bucket.bucket.pieces.size(), bucket.bucket.bytes().value, number(bucket.sent),
        number(bucket.busiest), formula ? number(formula->busiest) : "",
        bucket.messages ? std::to_string(*bucket.messages) : "",
        microseconds(r, bucket.phases.pack), microseconds(r, bucket.phases.wire),
        microseconds(r, bucket.phases.unpack));
  }
  return rows;
}

std::string bucket_csv_path(const std::string& csv_path) {
  constexpr std::string_view kEnding = ".csv";
  const bool has_ending = csv_path.ends_with(kEnding);
  return csv_path.substr(0, csv_path.size() - (has_ending ? kEnding.size() : 0)) + ".buckets.csv";
}

}  // namespace collmark
