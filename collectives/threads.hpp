/// The threads executor: ranks are threads of this process and read each other's buffers in place.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "collectives/plan_run.hpp"
#include "collectives/schedule.hpp"
#include "collectives/units.hpp"

namespace collmark {

struct TeamOptions {
  bool pin = true;  // rank r on the r-th allowed core, when there are enough
  std::chrono::milliseconds timeout{30'000};  // of any single wait; then Error{timed_out}
};

/// What waits for whom is worked out for every pair of ranks, and each step takes a turn of every
/// thread: beyond this a case would take hours or all of the memory.
inline constexpr int kMostTeamRanks = 1024;

/// Throws Unsupported if so many ranks cannot be threads.
void require_team(int ranks);

/// The rank threads of one launch. Every wait is bounded: when a rank fails or a wait times out,
/// all others leave their waits too and `run` rethrows the first error, which names rank, step and
/// peer.
class ThreadTeam {
 public:
  explicit ThreadTeam(int ranks, TeamOptions options = {});
  ~ThreadTeam();

  [[nodiscard]] int ranks() const;
  [[nodiscard]] bool oversubscribed() const;  // more ranks than cores we may run on

  /// Starts one fresh thread per rank, runs body(rank) on each, joins them.
  void run(const std::function<void(int rank)>& body);

  /// Dissemination barrier (Hensgen, Finkel, Manber 1988). Called by every rank, inside `run`.
  void barrier(int rank);

  /// From outside `run` or from a signal: every rank leaves its next barrier or
  /// long wait with Error{interrupted}.
  void interrupt() noexcept;
  [[nodiscard]] bool interrupted() const noexcept;

  struct Shared;  // what executors wait with; see team.hpp
  [[nodiscard]] std::shared_ptr<Shared> share() const { return shared_; }

 private:
  std::shared_ptr<Shared> shared_;
};

/// One collective operation, prepared: schedule, buffers and counters, ready to run many times.
class ThreadsCollective {
 public:
  ThreadsCollective(ThreadTeam& team, const Schedule& schedule, const Payload& payload,
                    std::vector<RankBuffers> buffers, PlanOptions options = {});
  ~ThreadsCollective();

  /// Called by every rank of the team, each on its own thread. On return this rank's output is
  /// final, its input may be rewritten, and in `out of place` its input is as it was.
  void run(int rank);

  [[nodiscard]] Moved moved(int rank) const;
  /// Memory beyond the caller's buffers [bytes], over all ranks.
  [[nodiscard]] Bytes scratch() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace collmark
