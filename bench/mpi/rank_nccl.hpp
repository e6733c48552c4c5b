/// NCCL in one process of a job: one communicator of all ranks that can have one, others split from it.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "bench/mpi/rank_gpu.hpp"
#include "kernels/gpu_peers.hpp"
#include "kernels/nccl/nccl_groups.hpp"

namespace collmark {

class RankNccl {
 public:
  RankNccl(RankGpuOwner& gpu, std::chrono::milliseconds timeout) : gpu_(gpu), timeout_(timeout) {}

  /// Opens it when it is first needed.  Throws Error{absent} as Nccl.
  [[nodiscard]] const Nccl& library();

  // Called by all ranks of the job together, which `all` are.

  /// Of another launch than the last: its communicators are made anew.
  void begin_launch(int launch);
  /// For the first `wanted.ranks`; null at the others, which take part in making it.
  ///   Throws   at all: Unsupported, if two of those ranks are on one GPU or one has another NCCL than rank 0, or as NcclGroups;
  ///            at this one: as NcclGroups
  [[nodiscard]] NcclGroup* group(GpuPeers& all, const NcclGroups::Wanted& wanted);
  /// One that its ranks have aborted.
  void drop(const NcclGroups::Wanted& wanted);
  /// Before the job ends, and before the GPU is given back.
  void end();

  [[nodiscard]] HostPatience patience() const { return {.timeout = timeout_}; }

 private:
  void find_fitting(GpuPeers& all);
  void make_everybody(GpuPeers& all);
  [[nodiscard]] bool holds(const GpuPeers& all) const { return all.rank() < fitting_; }

  RankGpuOwner& gpu_;
  std::chrono::milliseconds timeout_;
  std::unique_ptr<Nccl> nccl_;
  int launch_ = 0;
  int fitting_ = 0;       // so many ranks, from 0, can have one communicator; 0: not known yet
  std::string obstacle_;  // why not one more
  bool made_ = false;     // the same at all ranks
  std::unique_ptr<NcclGroups> groups_;  // null at those that do not fit
};

}  // namespace collmark
