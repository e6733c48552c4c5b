/// Training steps on the GPUs of this process; buckets are all-reduced by our kernels.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bench/step_backend.hpp"
#include "kernels/gpu.hpp"

namespace collmark {

class CudaStepBackend : public StepBackend {
 public:
  explicit CudaStepBackend(const BackendOptions& options);

  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] Availability availability() const override { return availability_; }
  [[nodiscard]] std::vector<std::string> devices() const override;
  [[nodiscard]] std::string obstacle(const StepCase& c) const override;
  [[nodiscard]] StepResult run(const StepCase& c) override;
  void interrupt() noexcept override { interrupted_.store(true, std::memory_order_relaxed); }

 private:
  struct Running;
  void measure_into(StepResult& result, const StepCase& c, StepWork work);
  void measure_with(Running& running, StepResult& result, const StepCase& c);

  BackendOptions options_;
  Availability availability_{.here = true, .reason = ""};
  std::unique_ptr<Gpus> gpus_;  // null: none is here
  std::set<int> ranks_;         // of the steps so far
  std::atomic<bool> interrupted_{false};
};

}  // namespace collmark
