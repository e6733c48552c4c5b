/// The GPUs and the NCCL of this process and the communicators of a launch: what every measurement with them in one process
/// shares.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/backend.hpp"
#include "bench/device_work.hpp"
#include "kernels/gpu.hpp"
#include "kernels/nccl/nccl_groups.hpp"

namespace collmark {

/// What is measured on a group, with all that its work uses.
class NcclRunning {
 public:
  explicit NcclRunning(NcclGroup& where) : group(where) {}
  NcclRunning(const NcclRunning&) = delete;
  NcclRunning& operator=(const NcclRunning&) = delete;
  virtual ~NcclRunning() = default;
  /// Null as long as nothing can be queued.
  [[nodiscard]] virtual DeviceWork* work() = 0;

  NcclGroup& group;
};

class NcclProcess {
 public:
  explicit NcclProcess(std::chrono::milliseconds timeout);
  ~NcclProcess();
  NcclProcess(const NcclProcess&) = delete;
  NcclProcess& operator=(const NcclProcess&) = delete;

  [[nodiscard]] const Availability& availability() const { return availability_; }
  /// NCCL and its versions first, then the GPUs.
  [[nodiscard]] std::vector<std::string> devices() const;
  /// Only if they are available.
  [[nodiscard]] Gpus& gpus() { return *gpus_; }
  [[nodiscard]] const Nccl& nccl() const { return *nccl_; }
  /// Of the GPU with the least, of the first `gpus`; nothing where there is none.
  [[nodiscard]] Bytes free_memory(int gpus) const;

  /// With communicators of its own.  Throws Error{timed_out} if NCCL does not end those of the last one.
  void begin_launch(int ranks);
  ///   Throws   Unsupported if there are fewer GPUs than ranks; as NcclGroups::of
  [[nodiscard]] NcclGroup& group(const NcclGroups::Wanted& wanted);
  /// Runs `measure`, which uses nothing that `running` does not own. After an error its group is aborted, and what does not
  /// come to an end all the same is left behind.
  ///   Throws   Unsupported, Refused as such; Error{timed_out} says of which group, "NCCL's <doing> on 3 ranks was aborted: ..."
  void watch(std::unique_ptr<NcclRunning> running, const NcclGroups::Wanted& wanted,
             std::string_view doing, const std::function<void()>& measure);

  [[nodiscard]] HostPatience patience() const;
  void interrupt() noexcept { interrupted_.store(true, std::memory_order_relaxed); }

 private:
  [[nodiscard]] bool end_groups();
  void leave_all_behind();
  void give_up(std::unique_ptr<NcclRunning> running, const NcclGroups::Wanted& wanted);

  std::chrono::milliseconds timeout_;
  Availability availability_{.here = true, .reason = ""};
  std::atomic<bool> interrupted_{false};  // before the groups, which ask for it when they end
  std::unique_ptr<Gpus> gpus_;            // null: none is here
  std::unique_ptr<Nccl> nccl_;            // null: none is here
  int most_ranks_ = 0;                    // of this launch
  std::unique_ptr<NcclGroups> groups_;
};

}  // namespace collmark
