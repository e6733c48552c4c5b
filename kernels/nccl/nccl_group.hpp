/// Ranks that NCCL connects: the communicators of those that live in this process, each on a GPU of its own.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kernels/device_collective.hpp"
#include "kernels/gpu_clock.hpp"
#include "kernels/nccl/nccl.hpp"

namespace collmark {

/// Most calls of NCCL do not block (config.blocking = 0): whoever waits asks again and again how far it is, gives up after a
/// time, and aborts. Its abort and its destroy do block: they are made on a thread of their own, and left to it if they take
/// longer than that time.
class NcclGroup {
 public:
  /// Of a group of `ranks`, those from `first` on live here, one on each of `gpus`. All processes, or threads, of the group
  /// do this with the same id.
  struct Place {
    int ranks = 1;
    int first = 0;
    nccl::UniqueId id = {};
  };
  ///   Throws   Error{timed_out, interrupted, lost}; nothing is left behind but what NCCL itself leaves
  NcclGroup(const Nccl& nccl, std::vector<Gpu*> gpus, const Place& place, HostPatience patience);
  /// All of them live here.
  NcclGroup(const Nccl& nccl, std::vector<Gpu*> gpus, HostPatience patience);
  /// As end().
  ~NcclGroup() { (void)end(); }
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  [[nodiscard]] static nccl::UniqueId new_id(const Nccl& nccl);

  /// The first `ranks` of this group, as a group of their own; those of them that live here. All of this group call it.
  ///   Throws   Error{timed_out, interrupted, lost}, and then this group is aborted too: its state is that of the split,
  ///            and until it is gone NCCL may write to the caller's memory
  [[nodiscard]] std::unique_ptr<NcclGroup> split(int ranks);

  [[nodiscard]] const Nccl& nccl() const { return nccl_; }
  [[nodiscard]] int size() const { return ranks_; }
  /// That live here.
  [[nodiscard]] RankRange here() const {
    return {.first = first_, .count = static_cast<int>(members_.size())};
  }
  /// `i`: of those that live here, from 0.
  [[nodiscard]] Gpu& gpu(int i) const { return *members_[static_cast<std::size_t>(i)].gpu; }
  [[nodiscard]] nccl::Comm comm(int i) const { return members_[static_cast<std::size_t>(i)].comm; }

  /// call(i) for each rank that lives here, its device the current one, as one group of NCCL's; waits until the work is
  /// queued. `doing`: for messages.
  ///   Throws   Error{timed_out, interrupted, lost}, and then the group is of no more use
  template <class Call>
  void together(std::string_view doing, Call call) {
    start_group(doing);
    for (int i = 0; i < here().count; ++i) {
      gpu(i).use();
      accept(call(i), i, doing);
    }
    end_group(doing);
  }

  ///   Throws   Error{lost} with NCCL's words, if one of the ranks has met an error since
  void check_errors(std::string_view doing) const;
  /// Ends what is under way, and the group. Nothing but the destructor may be called afterwards. False if that takes longer
  /// than its patience; then it is left to itself.
  bool abort() noexcept;
  /// As abort(), which then waits: of several groups the waiting is over in the patience of one.
  void begin_abort() noexcept;
  /// In order, if there is still one, else by abort(); the same is true of it. If it is false, NCCL may still use the GPUs: they
  /// must not be given back.
  bool end() noexcept;
  [[nodiscard]] bool aborted() const { return aborted_; }

 private:
  struct Member {
    Gpu* gpu = nullptr;
    nccl::Comm comm = nullptr;
  };
  NcclGroup(NcclGroup& parent, int ranks);
  enum class Last { destroy, abort };
  void begin(Last call) noexcept;
  [[nodiscard]] bool has_ended() noexcept;
  void start_group(std::string_view doing) const;
  void end_group(std::string_view doing);
  void accept(nccl::Result result, int i, std::string_view doing) const;
  /// Until no rank of this process has anything in progress.
  void wait(std::string_view doing) const;
  [[nodiscard]] bool in_progress(std::string_view doing) const;

  const Nccl& nccl_;
  HostPatience patience_;
  int ranks_ = 1, first_ = 0;
  std::vector<Member> members_;
  bool aborted_ = false;  // or ended ...
  std::thread thread_;    // ... by this one, which is left behind ...
  bool left_ = false;
  std::chrono::steady_clock::time_point given_up_at_;  // ... after this
  std::future<void> ended_;
};

}  // namespace collmark
