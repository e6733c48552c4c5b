#include "bench/step_session.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "bench/csv_reader.hpp"
#include "bench/gpu_knobs.hpp"
#include "bench/json_text.hpp"
#include "bench/output.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

StepPoint point_of(const StepRecord& r) {
  return {.model = r.c.model->name,
          .policy = std::string(r.c.policy->name),
          .cap = cap_in_force(*r.c.policy, r.c.config, r.c.dtype),
          .algorithm = r.c.algorithm,
          .tuning = asked_text(r.c.tuning),
          .ranks = r.c.ranks(),
          .step = Seconds(r.result.base.measurement.time.p50),
          .oversubscribed = r.result.base.oversubscribed,
          .buckets = static_cast<int>(r.result.buckets.size())};
}

/// A new CSV must not begin beside the buckets of an old one.
const std::string& with_free_neighbour(const StepFlags& flags) {
  const std::string buckets = bucket_csv_path(flags.csv);
  if (flags.existing() == Existing::refuse && !std::filesystem::exists(flags.csv) &&
      std::filesystem::exists(buckets))
    throw Error(ErrorKind::usage,
                fmt::format("'{}' exists; it belongs to another '{}'", buckets, flags.csv));
  return flags.csv;
}

double microseconds(Seconds time) { return time.count() * 1e6; }

nlohmann::json to_json(const StepRecord& r) {
  const StepPoint point = point_of(r);
  nlohmann::json buckets = nlohmann::json::array();
  for (const BucketResult& b : r.result.buckets)
    buckets.push_back({{"dtype", name(b.bucket.dtype)},
                       {"tensors", b.bucket.pieces.size()},
                       {"planned_bytes", b.bucket.bytes().value},
                       {"sent_bytes", b.sent ? nlohmann::json(b.sent->value) : nullptr},
                       {"wire_us_p50", microseconds(b.phases.wire)}});
  nlohmann::json json{{"launch", r.base.launch},
                      {"seq", r.base.seq},
                      {"model", point.model},
                      {"policy", point.policy},
                      {"bucket_bytes", nullptr},
                      {"algorithm", point.algorithm},
                      {"asked_tuning", point.tuning},
                      {"ranks", point.ranks},
                      {"status", name(r.result.base.status)},
                      {"reason", r.result.base.reason},
                      {"buckets", std::move(buckets)}};
  if (point.cap) json["bucket_bytes"] = point.cap->value;
  if (r.result.base.status == Status::skipped || r.result.base.measurement.time.n == 0) return json;
  json["time_us_p50"] = microseconds(point.step);
  json["pack_us_p50"] = microseconds(r.result.phases.pack);
  json["wire_us_p50"] = microseconds(r.result.phases.wire);
  json["unpack_us_p50"] = microseconds(r.result.phases.unpack);
  json["tail_us_p50"] = microseconds(r.result.tail);
  return json;
}

}  // namespace

std::vector<StepPoint> points_in(const std::string& csv, std::string_view run_id) {
  std::vector<StepPoint> points;
  const CsvTable rows = CsvTable::read(csv);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (rows.cell(i, "run_id") != run_id || rows.cell(i, "status") != "ok") continue;
    StepPoint point{.model = rows.cell(i, "model"),
                    .policy = rows.cell(i, "policy"),
                    .cap = {},
                    .algorithm = rows.cell(i, "algorithm"),
                    .tuning = rows.cell(i, "asked_tuning"),
                    .ranks = static_cast<int>(rows.number(i, "ranks").value_or(0)),
                    .step = Seconds(rows.number(i, "time_us_p50").value_or(0) * 1e-6),
                    .oversubscribed = rows.cell(i, "oversubscribed") == "1",
                    .buckets = static_cast<int>(rows.number(i, "buckets").value_or(0))};
    if (const auto cap = rows.number(i, "bucket_bytes"))
      point.cap = Bytes{static_cast<std::int64_t>(*cap)};
    points.push_back(std::move(point));
  }
  return points;
}

StepSession::StepSession(const StepFlags& flags, const StepConfig& config, RunRecord run)
    : files_({.csv = with_free_neighbour(flags),
              .header = step_csv_header(),
              .existing = flags.existing()},
             std::move(run)),
      table_(config),
      dtype_(config.dtype) {
  if (flags.json) document_ = {{"run_id", files_.run().run_id}, {"steps", nlohmann::json::array()}};
  if (flags.csv.empty()) return;
  if (std::filesystem::is_regular_file(flags.csv)) {  // a device or a pipe has no neighbour
    open_buckets(flags);
    if (flags.existing() == Existing::resume) points_ = points_in(flags.csv, files_.run().run_id);
  }
}

void StepSession::open_buckets(const StepFlags& flags) {
  try {
    buckets_.emplace(open_csv(bucket_csv_path(flags.csv), flags.existing(), bucket_csv_header()));
  } catch (...) {
    files_.take_back();
    throw;
  }
}

std::vector<PlannedStep> StepSession::unfinished(std::vector<PlannedStep> plan) const {
  return files_.unfinished(std::move(plan));
}

void StepSession::begin(std::span<const PlannedStep> rest) {
  files_.begin(static_cast<int>(rest.size()));
  if (!document_) put(table_.header());
  flush_output();
  countdown_.emplace(static_cast<int>(rest.size()));
}

void StepSession::starting(const PlannedStep& planned) {
  const StepCase& c = planned.c;
  const std::string tuning = asked_text(c.tuning);
  progress_.show(countdown_->state(fmt::format("{}, {}, cap {}, {}{}{}, {} ranks", c.model->name,
                                               c.policy->name, cap_text(c), c.algorithm,
                                               tuning.empty() ? "" : " ", tuning, c.ranks())));
}

void StepSession::finished(const StepRecord& record) {
  progress_.clear();
  if (document_) (*document_)["steps"].push_back(to_json(record));
  if (!document_) put(table_.row(record));
  flush_output();
  if (buckets_) buckets_->append(bucket_csv_rows(record));
  files_.append(step_csv_row(record));  // last: a step with a row has all its buckets
  countdown_->finished_one();
  if (record.result.base.status == Status::ok) points_.push_back(point_of(record));
}

void StepSession::end(std::vector<std::string> devices) {
  progress_.clear();
  files_.note_devices(std::move(devices));
  files_.end();
  const std::vector<std::string> sentences = verdicts(points_, dtype_);
  if (document_) {
    (*document_)["verdicts"] = sentences;
    put(json_text(*document_));
  } else if (!sentences.empty()) {
    put(fmt::format("\n{}\n", fmt::join(sentences, "\n")));
  }
  flush_output();
}

}  // namespace collmark
