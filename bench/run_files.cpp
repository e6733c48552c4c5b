#include "bench/run_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>

#include "bench/json_text.hpp"
#include "bench/output.hpp"
#include "bench/record.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

/// A path that cannot even be looked at, such as one with too long a name, is none: opening it says why.
bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// A device or a pipe has no neighbour.
bool has_neighbours(const std::string& path) {
  std::error_code ignored;
  return !std::filesystem::exists(path, ignored) || is_file(path);
}

Status status_of(const CsvTable& rows, std::size_t row) {
  for (const Status status : {Status::ok, Status::skipped, Status::failed})
    if (name(status) == rows.cell(row, "status")) return status;
  throw Error(ErrorKind::usage,
              fmt::format("{}: expected ok, skipped or failed in column status", rows.where(row)));
}

}  // namespace

CsvFile open_csv(const std::string& path, Existing existing, std::string_view header) {
  const bool there = is_file(path);
  return there && existing != Existing::refuse ? CsvFile::extend(path, header)
                                               : CsvFile::create(path, header);
}

RunFiles::RunFiles(const RunTarget& target, RunRecord run) : run_(std::move(run)) {
  if (target.csv.empty()) return;
  const bool there = is_file(target.csv);
  if (has_neighbours(target.csv)) record_path_ = run_record_path(target.csv);
  if (!record_path_.empty()) require_writable(record_path_);
  if (there && target.existing == Existing::append) remember_earlier();
  if (there && target.existing == Existing::resume)
    resume(target);
  else
    csv_.emplace(open_csv(target.csv, target.existing, target.header));
  if (!there && has_neighbours(target.csv)) created_ = target.csv;
}

void RunFiles::resume(const RunTarget& target) {
  const nlohmann::json before = read_run_record(record_path_);
  const auto now = nlohmann::json::parse(json_text(to_json(run_)));  // as it would be read back
  const auto same = [&](std::string_view what, const nlohmann::json& a, const nlohmann::json& b) {
    const std::string changed = difference(a, b);
    if (changed.empty()) return;
    throw Error(ErrorKind::usage, fmt::format("--resume: '{}' was begun with another {}: {}",
                                              target.csv, what, changed));
  };
  same("configuration", before.at("configuration"), now.at("configuration"));
  same("machine", {{"name", before.at("machine").at("name")}}, {{"name", run_.host.name}});
  same("program", {{"commit", before.at("program").at("commit")}},
       {{"commit", now.at("program").at("commit")}});
  csv_.emplace(CsvFile::extend(target.csv, target.header));  // cuts off half a row
  const CsvTable rows = CsvTable::read(target.csv);
  run_.run_id = before.at("run_id").get<std::string>();
  run_.started_utc = before.at("started_utc").get<std::string>();
  run_.earlier = before.at("earlier").get<std::vector<nlohmann::json>>();
  for (std::size_t row = 0; row < rows.rows(); ++row)
    if (rows.cell(row, "run_id") == run_.run_id) remember_done(rows, row);
}

void RunFiles::remember_done(const CsvTable& rows, std::size_t row) {
  constexpr WholeRange kSeq{0, std::numeric_limits<int>::max()};
  const auto seq = rows.whole(row, "seq", kSeq);
  if (!seq || !done_.insert(static_cast<int>(*seq)).second) return;
  found_.add(status_of(rows, row), rows.cell(row, "reason"));
  if (!make_backend(rows.cell(row, "backend"), {})->availability().here) ++found_.absent;
}

void RunFiles::take_back() {
  csv_.reset();
  if (!created_.empty()) std::filesystem::remove(created_);
}

void RunFiles::remember_earlier() {
  if (!is_file(record_path_)) return;
  nlohmann::json before = read_run_record(record_path_);
  run_.earlier = before.at("earlier").get<std::vector<nlohmann::json>>();
  before.erase("earlier");
  run_.earlier.push_back(std::move(before));
}

void RunFiles::begin(int to_measure) {
  run_.finished = static_cast<int>(done_.size());
  run_.planned = run_.finished + to_measure;
  write_run_record();
}

void RunFiles::append(std::string_view rows) {
  if (csv_) csv_->append(rows);
  ++run_.finished;
}

void RunFiles::end() {
  run_.complete = run_.finished == run_.planned;
  run_.finished_utc = utc_now();
  write_run_record();
}

void RunFiles::write_run_record() const {
  if (!record_path_.empty()) replace_file(record_path_, json_text(to_json(run_)));
}

void measure_resumably(const RunRecord& run, const std::string& csv,
                       const std::function<void()>& measure) {
  try {
    measure();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::interrupted || !is_file(csv)) throw;
    throw Error(ErrorKind::interrupted,
                fmt::format("interrupted; {} of {} rows are in '{}', --resume finishes the rest",
                            run.finished, run.planned, csv));
  }
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string failed_before(const SweepTally& found, const std::string& csv) {
  if (found.failed() == 0) return "";
  return fmt::format("collmark: rows of '{}' that failed before: {}; each has its reason\n", csv,
                     found.failed());
}

std::string warnings(const RunRecord& run, int most_ranks) {
  const std::size_t cores = run.host.cores.size();
  std::string lines;
  if (const std::string complaint = run.noise.complaint(cores); !complaint.empty())
    lines += fmt::format("collmark: this host is not quiet: {}\n", complaint);
  if (static_cast<std::size_t>(most_ranks) > cores)
    lines += fmt::format(
        "collmark: more ranks than the {} cores here take turns; their rows say oversubscribed = "
        "1\n",
        cores);
  return lines;
}

}  // namespace collmark
