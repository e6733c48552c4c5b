#include "bench/run_record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <random>

#include "bench/build_info.hpp"
#include "bench/read_file.hpp"
#include "bench/version.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

// Names, and beginnings of names where a library reads many.
constexpr std::array<std::string_view, 11> kRelevant{
    "COLLMARK_", "OMPI_MCA_", "PMIX_MCA_",       "PRTE_MCA_",      "UCX_",        "FI_PROVIDER",
    "NCCL_",     "CUDA_",     "OMP_NUM_THREADS", "GLIBC_TUNABLES", "SLURM_NTASKS"};

nlohmann::json or_null(const auto& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json to_json(const Host& host) {
  return {{"name", host.name},
          {"cpu", host.cpu},
          {"cores", host.cores},
          {"l2_cache_bytes", host.l2_cache},
          {"last_level_cache_bytes", host.last_level_cache},
          {"memory_available_bytes", host.memory_available},
          {"kernel", host.kernel},
          {"huge_pages", host.huge_pages}};
}

nlohmann::json to_json(const Noise& noise, std::size_t cores) {
  return {{"spread", noise.spread},
          {"load", noise.load},
          {"steal", or_null(noise.steal)},
          {"governor", noise.governor},
          {"complaint", noise.complaint(cores)}};
}

std::string shown(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// What a run that goes on with an earlier one reads of its record, with an example of each type.
void require_keys(const nlohmann::json& record, const std::string& path) {
  const nlohmann::json expected{{"/run_id", "a text"},
                                {"/started_utc", "a text"},
                                {"/configuration", nlohmann::json::object()},
                                {"/program/commit", "a text"},
                                {"/machine/name", "a text"},
                                {"/complete", true},
                                {"/earlier", nlohmann::json::array()}};
  for (const auto& [where, example] : expected.items()) {
    const nlohmann::json::json_pointer pointer(where);
    if (!record.contains(pointer) || record.at(pointer).type() != example.type())
      throw Error(ErrorKind::usage, fmt::format("{}:1: expected a key '{}' that holds a {}", path,
                                                where.substr(1), example.type_name()));
  }
}

std::size_t line_of(std::string_view text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

}  // namespace

nlohmann::json to_json(const RunRecord& run) {
  return {{"schema", kRunSchema},
          {"run_id", run.run_id},
          {"program",
           {{"name", "collmark"},
            {"version", build_info::kVersion},
            {"commit", build_info::kCommit},
            {"build_type", build_info::kBuildType},
            {"compiler", build_info::kCompiler},
            {"description", version_text()}}},
          {"machine", to_json(run.host)},
          {"devices", run.devices},
          {"timer",
           {{"tick_ns", run.timer.tick.count() * 1e9}, {"call_ns", run.timer.call.count() * 1e9}}},
          {"noise", to_json(run.noise, run.host.cores.size())},
          {"environment", relevant_environment()},
          {"argv", run.argv},
          {"seed", run.configuration.at("seed")},
          {"configuration", run.configuration},
          {"started_utc", run.started_utc},
          {"finished_utc", or_null(run.finished_utc)},
          {"planned", run.planned},
          {"finished", run.finished},
          {"complete", run.complete},
          {"earlier", run.earlier}};
}

std::string run_record_path(const std::string& csv_path) {
  constexpr std::string_view kEnding = ".csv";
  const bool has_ending = csv_path.ends_with(kEnding);
  return csv_path.substr(0, csv_path.size() - (has_ending ? kEnding.size() : 0)) + ".run.json";
}

nlohmann::json read_run_record(const std::string& path) {
  const std::string text = read_file(path);
  try {
    nlohmann::json json = nlohmann::json::parse(text);
    require_keys(json, path);
    return json;
  } catch (const nlohmann::json::parse_error& e) {
    throw Error(ErrorKind::usage, fmt::format("{}:{}: expected a JSON document ({})", path,
                                              line_of(text, e.byte), "syntax error"));
  }
}

std::string new_run_id() {
  std::random_device chance;
  return fmt::format("{:%Y%m%dT%H%M%S}-{:04x}", fmt::gmtime(std::time(nullptr)),
                     chance() & 0xFFFFu);
}

nlohmann::json relevant_environment() {
  nlohmann::json set = nlohmann::json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (std::any_of(kRelevant.begin(), kRelevant.end(),
                    [&](std::string_view beginning) { return name.starts_with(beginning); }))
      set[std::string(name)] = text.substr(equals + 1);
  }
  return set;
}

std::string difference(const nlohmann::json& before, const nlohmann::json& now) {
  for (const auto& [key, value] : now.items()) {
    if (!before.contains(key)) return fmt::format("{} was not set, is now {}", key, shown(value));
    if (before.at(key) != value)
      return fmt::format("{} was {}, is now {}", key, shown(before.at(key)), shown(value));
  }
  for (const auto& [key, value] : before.items())
    if (!now.contains(key)) return fmt::format("{} was {}, is now not set", key, shown(value));
  return "";
}

}  // namespace collmark
