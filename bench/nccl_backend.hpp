/// NCCL's collectives, a rank on each GPU of this process: what our own kernels are measured against.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "bench/backend.hpp"
#include "bench/nccl_name.hpp"
#include "kernels/gpu.hpp"
#include "kernels/gpu_condition.hpp"
#include "kernels/nccl/nccl_groups.hpp"

namespace collmark {

class NcclBackend : public Backend {
 public:
  explicit NcclBackend(const BackendOptions& options);
  ~NcclBackend() override;

  [[nodiscard]] std::string_view name() const override { return "nccl"; }
  [[nodiscard]] Availability availability() const override { return availability_; }
  /// Both of one device.
  [[nodiscard]] Bytes memory_needed(const Case& c) const override;
  [[nodiscard]] Bytes memory_available() const override;
  /// NCCL and its versions first, then the GPUs.
  [[nodiscard]] std::vector<std::string> devices() const override;
  /// With communicators of its own.
  void begin_launch(int ranks) override;
  [[nodiscard]] CaseResult run(const Case& c) override;
  void interrupt() noexcept override { interrupted_.store(true, std::memory_order_relaxed); }

 private:
  struct Running;

  void measure_into(CaseResult& result, const Case& c);
  void measure_with(Running& running, CaseResult& result, const Case& c);
  void try_out(Running& running, CaseResult& result, const NcclName& name);
  [[nodiscard]] NcclGroup& group(const NcclGroups::Wanted& wanted);
  void give_up(std::unique_ptr<Running> running, const NcclGroups::Wanted& wanted);
  [[nodiscard]] HostPatience patience() const;

  BackendOptions options_;
  GpuMonitor monitor_;
  Availability availability_{.here = true, .reason = ""};
  std::atomic<bool> interrupted_{false};  // before the groups, which ask for it when they end
  std::unique_ptr<Gpus> gpus_;            // null: none is here
  std::unique_ptr<Nccl> nccl_;            // null: none is here
  int most_ranks_ = 0;                    // of this launch
  std::unique_ptr<NcclGroups> groups_;
};

}  // namespace collmark
