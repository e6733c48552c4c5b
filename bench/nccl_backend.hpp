/// NCCL's collectives, a rank on each GPU of this process: what our own kernels are measured against.
#pragma once

#include <string>
#include <vector>

#include "bench/backend.hpp"
#include "bench/nccl_name.hpp"
#include "bench/nccl_process.hpp"
#include "kernels/gpu_condition.hpp"

namespace collmark {

class NcclBackend : public Backend {
 public:
  explicit NcclBackend(const BackendOptions& options);

  [[nodiscard]] std::string_view name() const override { return "nccl"; }
  [[nodiscard]] Availability availability() const override { return process_.availability(); }
  /// Both of one device.
  [[nodiscard]] Bytes memory_needed(const Case& c) const override;
  [[nodiscard]] Bytes memory_available() const override;
  [[nodiscard]] std::vector<std::string> devices() const override { return process_.devices(); }
  void begin_launch(int ranks) override { process_.begin_launch(ranks); }
  [[nodiscard]] CaseResult run(const Case& c) override;
  void interrupt() noexcept override { process_.interrupt(); }

 private:
  struct Running;

  void measure_into(CaseResult& result, const Case& c);
  void measure_with(Running& running, CaseResult& result, const Case& c);
  void try_out(Running& running, CaseResult& result, const NcclName& name);

  GpuMonitor monitor_;
  NcclProcess process_;
};

}  // namespace collmark
