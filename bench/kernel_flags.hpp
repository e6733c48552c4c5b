/// The flags of every command whose ranks may be kernels.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/gpu_tuning.hpp"

namespace collmark {

struct KernelFlags {
  std::string channels = "auto", threads = "auto", slots = "auto", slot_bytes = "auto";  // lists
  std::optional<int> misaligned = {};

  /// Every combination. Throws Error{usage}.
  [[nodiscard]] std::vector<GpuTuning> tunings() const;
};

void declare_kernels(CLI::App& command, KernelFlags& flags);
/// Of a command whose buffers are its kernels' own.
void declare_misalignment(CLI::App& command, KernelFlags& flags);

}  // namespace collmark
