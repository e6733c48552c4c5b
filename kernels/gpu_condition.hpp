/// In what condition a GPU is that is measured: clocks, power, temperature, and what holds its clocks back. From NVIDIA's
/// management library, found when the program runs; without it nothing is known, and everything else works.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/nvml_abi.hpp"

namespace collmark {

/// What is empty is not known.
struct GpuCondition {
  std::optional<int> sm_mhz = {}, memory_mhz = {};
  std::optional<double> watts = {};
  std::optional<int> celsius = {};
  std::optional<unsigned long long> held_back = {};  // a bit for each reason, NVML's

  friend bool operator==(const GpuCondition&, const GpuCondition&) = default;
};

/// Of several GPUs, or of one at several times: the slowest clocks, the most power and heat, all reasons.
[[nodiscard]] GpuCondition worst(const GpuCondition& a, const GpuCondition& b);

/// Of the reasons those that make a GPU slower than it was told to be: "sw_power_cap+hw_thermal_slowdown", or "no".
/// A GPU without work and clocks that somebody has set are none.
[[nodiscard]] std::string throttling(unsigned long long held_back);

class GpuMonitor {
 public:
  /// Opens libnvidia-ml.so.1, or what the environment variable COLLMARK_NVML names.
  GpuMonitor();
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  /// Why nothing is known, one line; empty if something is.
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }

  /// Now, of the GPU at this PCI address.
  [[nodiscard]] GpuCondition look(const std::string& pci) const;

 private:
  struct Library {
    void operator()(void* handle) const;
  };
  [[nodiscard]] std::string open();

  std::unique_ptr<void, Library> library_;
  nvml::Functions functions_;
  std::string obstacle_;
};

}  // namespace collmark
