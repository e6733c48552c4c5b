/// The flags of every command whose ranks may be kernels.
#pragma once

#include <CLI/App.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "kernels/gpu_tuning.hpp"

namespace collmark {

struct KernelFlags {
  std::optional<int> channels = {}, threads = {}, slots = {}, misaligned = {};
  std::string slot_bytes = {};

  /// Throws Error{usage}.
  [[nodiscard]] GpuTuning tuning() const;
};

void declare_kernels(CLI::App& command, KernelFlags& flags);
/// Of a command whose buffers are its kernels' own.
void declare_misalignment(CLI::App& command, KernelFlags& flags);

/// Adds what was asked for to a configuration.
void add_tuning(nlohmann::json& json, const GpuTuning& tuning);

}  // namespace collmark
