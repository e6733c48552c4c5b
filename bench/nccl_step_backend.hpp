/// Training steps on the GPUs of this process; buckets are packed by our kernels and all-reduced by NCCL.
#pragma once

#include <string>
#include <vector>

#include "bench/nccl_process.hpp"
#include "bench/step_backend.hpp"

namespace collmark {

struct NcclCaseTask;

class NcclStepBackend : public StepBackend {
 public:
  explicit NcclStepBackend(const BackendOptions& options) : process_(options.timeout) {}

  [[nodiscard]] std::string_view name() const override { return "nccl"; }
  [[nodiscard]] Availability availability() const override { return process_.availability(); }
  [[nodiscard]] std::vector<std::string> devices() const override { return process_.devices(); }
  [[nodiscard]] std::string obstacle(const StepCase& c) const override;
  void begin_launch(int ranks) override { process_.begin_launch(ranks); }
  [[nodiscard]] StepResult run(const StepCase& c) override;
  void interrupt() noexcept override { process_.interrupt(); }

 private:
  struct Running;
  void measure_into(StepResult& result, const StepCase& c);
  void prepare(Running& running, const NcclCaseTask& asked, StepWork work);
  void try_out(Running& running, StepResult& result, const NcclCaseTask& asked);

  NcclProcess process_;
};

}  // namespace collmark
