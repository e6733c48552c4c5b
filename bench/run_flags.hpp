/// The flags that every command with a CSV has: how long to measure, where to write.
#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "bench/backend.hpp"
#include "bench/run_files.hpp"

namespace collmark {

struct RunFlags {
  int launches = 1;
  std::optional<int> iterations = {};
  std::optional<int> warmups = {};
  double time_budget = 0.5;  // [s]
  double timeout = 30.0;     // [s]
  std::uint64_t seed = 1;
  std::string config = {};  // a TOML file, for ConfigFile
  std::string csv = {};
  bool resume = false;
  bool append = false;
  bool dry_run = false;

  [[nodiscard]] Existing existing() const;
  [[nodiscard]] MeasureOptions measure_options() const;
  [[nodiscard]] BackendOptions backend_options() const;
};

void declare_run(CLI::App& command, RunFlags& flags);

}  // namespace collmark
