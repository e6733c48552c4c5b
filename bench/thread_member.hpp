/// The ranks of a thread team as measurement sees them.
#pragma once

#include <atomic>
#include <vector>

#include "bench/team.hpp"
#include "collectives/threads.hpp"

namespace collmark {

/// A thread team with what its ranks pass each other beside the collectives. One launch.
class ThreadLaunch {
 public:
  explicit ThreadLaunch(int ranks, const TeamOptions& options = {});

  [[nodiscard]] ThreadTeam& team() { return team_; }

 private:
  friend class ThreadMember;
  ThreadTeam team_;
  std::vector<std::vector<std::byte>> mailbox_;  // one per rank, read between two barriers
  std::atomic<Clock::rep> start_{0};             // agreed by rank 0
};

/// One rank of it. Starts together at an agreed time, since all ranks read one clock: closer than a
/// barrier, which the last rank leaves one flag later than the first. Ranks that share a core
/// cannot start together; they leave a barrier, and no start is called late.
class ThreadMember : public Team {
 public:
  ThreadMember(ThreadLaunch& launch, int rank) : launch_(launch), rank_(rank) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return launch_.team_.ranks(); }
  void barrier() override { launch_.team_.barrier(rank_); }
  [[nodiscard]] Start start_together() override;
  void broadcast(std::span<std::byte> bytes) override;
  [[nodiscard]] std::vector<std::byte> gather(std::span<const std::byte> mine) override;

 private:
  ThreadLaunch& launch_;
  int rank_;
};

}  // namespace collmark
