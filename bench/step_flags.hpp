/// The flags of `collmark step`, as text, and what they come to.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "bench/kernel_flags.hpp"
#include "bench/run_flags.hpp"
#include "bench/step_config.hpp"

namespace collmark {

struct StepFlags : RunFlags {
  std::string model = {};
  std::string policies = "ddp";
  std::string caps = {};  // each policy's default
  std::string split_after = {};
  std::string algorithm = "ring,two_shot";
  std::string ranks = "2";
  std::string backend = "threads";
  std::string dtype = "f32";
  bool json = false;
  KernelFlags kernels = {};
};

void declare(CLI::App& step, StepFlags& flags);

/// Throws Error{usage} for any word, number or combination that means nothing, Error{absent} for a
/// backend that cannot run steps.
[[nodiscard]] StepConfig config_from(const StepFlags& flags);

}  // namespace collmark
