/// Ranks live on GPUs: several on one, or some on each. Kernels are our own (kernels/); the driver is found at run time.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/backend.hpp"
#include "kernels/gpu.hpp"
#include "kernels/gpu_condition.hpp"

namespace collmark {

class CudaBackend : public Backend {
 public:
  explicit CudaBackend(const BackendOptions& options);
  ~CudaBackend() override;

  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] Availability availability() const override { return availability_; }
  /// Both of the device with the most ranks.
  [[nodiscard]] Bytes memory_needed(const Case& c) const override;
  [[nodiscard]] Bytes memory_available() const override;
  [[nodiscard]] std::vector<std::string> devices() const override;
  [[nodiscard]] CaseResult run(const Case& c) override;
  void interrupt() noexcept override { interrupted_.store(true, std::memory_order_relaxed); }

 private:
  void measure_into(CaseResult& result, const Case& c);
  struct Running;
  void measure_with(Running& running, CaseResult& result, const Case& c);
  [[nodiscard]] static std::optional<Bytes> count_busiest(Running& running);

  BackendOptions options_;
  GpuMonitor monitor_;
  Availability availability_{.here = true, .reason = ""};
  std::unique_ptr<Gpus> gpus_;  // null: none is here
  std::set<int> ranks_;         // of the cases so far
  std::atomic<bool> interrupted_{false};
};

}  // namespace collmark
