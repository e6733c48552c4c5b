/// Ranks are processes of an MPI job with a GPU each. Kernels of ours reach the memory of another rank through CUDA IPC, on one
/// host; NCCL connects them as it does.
#pragma once

#include <string>
#include <vector>

#include "bench/backend.hpp"
#include "bench/mpi_job.hpp"

namespace collmark {

class GpuProcessesBackend : public Backend {
 public:
  /// Of a job that was joined, asks all ranks for their GPU, and for their NCCL: one without is enough to make the backend absent.
  GpuProcessesBackend(GpuKernels kernels, const BackendOptions& options);

  [[nodiscard]] std::string_view name() const override {
    return kernels_ == GpuKernels::nccl ? "nccl" : "cuda";
  }
  [[nodiscard]] Availability availability() const override { return availability_; }
  /// Nothing: each rank asks its own GPU.
  [[nodiscard]] Bytes memory_needed(const Case&) const override { return {}; }
  [[nodiscard]] Bytes memory_available() const override { return {}; }
  /// Of the latest launch: rank 0's NCCL, if that runs, and a line for each rank; none before the first.
  [[nodiscard]] std::vector<std::string> devices() const override { return devices_; }
  void begin_launch(int ranks) override;
  [[nodiscard]] CaseResult run(const Case& c) override;
  void end() override { job_.end(); }
  void interrupt() noexcept override { job_.interrupt(); }

 private:
  void ask_for_gpus();

  GpuKernels kernels_;
  int launch_ = 0;
  MpiJob job_;
  Availability availability_;
  std::vector<std::string> devices_;
  bool asked_ = false;  // the ranks of this launch
};

/// Do `--backend cuda` and `--backend nccl` mean a process for each GPU here? In a job of several processes, or if it is asked for.
[[nodiscard]] bool gpu_ranks_are_processes(const BackendOptions& options);

}  // namespace collmark
