/// One process of an MPI job, from MPI_Init to MPI_Finalize.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/lost_rank.hpp"
#include "bench/mpi/last_words.hpp"
#include "bench/mpi/mpi_case.hpp"
#include "bench/mpi/rank_gpu.hpp"
#include "bench/mpi/rank_nccl.hpp"
#include "bench/mpi_launch.hpp"
#include "bench/watchdog.hpp"

namespace collmark {

/// Called once, from any thread, and never returns.
using OnFailure = std::function<void(const RankFailure&)>;

class MpiRank {
 public:
  ///   Throws   Error{absent} if MPI sees another job than the launcher has announced: then this process was
  ///            started by another MPI's launcher.
  MpiRank(const MpiJobOptions& options, OnFailure on_failure);
  MpiRank(const MpiRank&) = delete;
  MpiRank& operator=(const MpiRank&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// [rank], at rank 0.
  [[nodiscard]] const std::vector<RankProcess>& processes() const { return processes_; }

  /// What the others say before they give up, at rank 0; lives as long as anybody wants to hear it.
  [[nodiscard]] std::shared_ptr<const LastWords> last_words() const { return words_; }

  /// Rank 0 only: has all ranks of the order carry it out.
  [[nodiscard]] MpiAnswer carry_out(const MpiOrder& order);
  /// Rank 0 only: the job is over.
  void end();
  /// Every other rank: takes part until rank 0 ends the job. Hardly uses its core while it waits.
  void follow();

 private:
  [[nodiscard]] RankFailure hang(const std::string& what) const;
  void give_up(const RankFailure& failure) const;
  [[nodiscard]] MpiAnswer take_part(const MpiOrder& order);
  /// By a member of the group.
  [[nodiscard]] MpiAnswer carried_out(const Communicator& comm, const MpiOrder& order);
  void finish();
  void tell(std::string_view text);
  [[nodiscard]] std::string hear() const;
  [[nodiscard]] std::vector<RankProcess> find_processes() const;
  [[nodiscard]] Hosts find_hosts() const;

  std::chrono::milliseconds timeout_;
  OnFailure on_failure_;
  GiveUp give_up_;
  DynamicRules dynamic_rules_ = DynamicRules::ours;
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<RankProcess> processes_;
  Hosts hosts_;
  std::shared_ptr<LastWords> words_;
  ModelLinks links_;
  std::unique_ptr<RankGpuOwner> gpu_;
  std::unique_ptr<RankNccl> nccl_;
  std::unique_ptr<Watchdog> dog_;
};

}  // namespace collmark
