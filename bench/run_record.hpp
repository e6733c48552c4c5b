/// run.json: what a CSV was measured with. One document beside it, written anew as a whole when the
/// run begins and when it ends. results/run.schema.json describes it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/noise.hpp"
#include "bench/timer.hpp"
#include "topologies/host.hpp"

namespace collmark {

inline constexpr int kRunSchema = 1;

struct RunRecord {
  std::string run_id;
  std::vector<std::string> argv;
  Host host;
  Timer timer;
  Noise noise;
  nlohmann::json configuration;
  std::vector<std::string> devices = {};  // beside the CPU, a line each
  std::string started_utc;
  std::optional<std::string> finished_utc = {};
  bool complete = false;
  int planned = 0;                           // rows
  int finished = 0;                          // rows
  std::vector<nlohmann::json> earlier = {};  // of the runs whose rows stand above, with --append
};

[[nodiscard]] nlohmann::json to_json(const RunRecord& run);

/// `x.csv` -> `x.run.json`.
[[nodiscard]] std::string run_record_path(const std::string& csv_path);

/// Reads one back. Throws Error{usage} with file:line (or the missing key) and what was expected.
[[nodiscard]] nlohmann::json read_run_record(const std::string& path);

/// Time and chance: "20261129T190500-3f9c".
[[nodiscard]] std::string new_run_id();

/// The variables that can change a result, of those that are set. Never the whole environment: it
/// holds secrets.
[[nodiscard]] nlohmann::json relevant_environment();

/// The first difference between the two configurations, in words; empty if they are equal.
[[nodiscard]] std::string difference(const nlohmann::json& before, const nlohmann::json& now);

}  // namespace collmark
