/// The flags of `collmark sweep`, as text, and what they come to.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "bench/kernel_flags.hpp"
#include "bench/run_flags.hpp"
#include "bench/sweep_config.hpp"
#include "bench/sweep_run.hpp"

namespace collmark {

struct SweepFlags : RunFlags {
  std::string backend = "threads";
  std::string collective = "all_reduce";
  std::string algorithm = "ring,double_binary_tree,parameter_server";
  std::string ranks = {};  // by default 2 to as many as there are cores
  std::string sizes = "4K:16M:x8";
  std::string dtype = "f32";
  std::string op = "sum";
  std::string placement = "in_place";
  std::string cache = "touched";
  std::string mode = "latency";
  int root = 0;
  std::string samples = {};
  std::string hostfile = {};            // of mpirun
  std::string launcher_arguments = {};  // of mpirun
  bool allow_missing = false;
  bool processes = false;  // a GPU each
  KernelFlags kernels = {};
  // As nccl-tests spells sizes: -b 8 -e 64M -f 4, or -i 1M.
  std::string begin = {}, end = {}, factor = {}, step = {};
  int check = 1;

  [[nodiscard]] Missing missing() const {
    return allow_missing ? Missing::allowed : Missing::refused;
  }
  [[nodiscard]] BackendOptions backend_options() const;
};

void declare(CLI::App& sweep, SweepFlags& flags);

/// Throws Error{usage} for any word, number or combination that means nothing.
[[nodiscard]] SweepConfig config_from(const SweepFlags& flags);

}  // namespace collmark
