/// A collective of the threads executor as measurement sees it: with exact inputs and a check.
#pragma once

#include <span>
#include <vector>

#include "bench/backend.hpp"
#include "bench/exact_data.hpp"
#include "bench/operation.hpp"
#include "bench/page_report.hpp"
#include "collectives/pages.hpp"
#include "collectives/threads.hpp"

namespace collmark {

/// Buffers, inputs and executor of one operation, for all ranks of a team.
class PreparedCollective {
 public:
  PreparedCollective(ThreadTeam& team, const Schedule& schedule, const Payload& payload,
                     Placement placement);

  /// Called by the rank itself, so that its pages lie near it.
  void first_touch(int rank);

  [[nodiscard]] const ExactData& data() const { return data_; }
  [[nodiscard]] ThreadsCollective& executor() { return executor_; }
  [[nodiscard]] std::byte* input(int rank) const;
  [[nodiscard]] std::byte* output(int rank) const;
  [[nodiscard]] OperationTraits traits() const { return traits_; }
  /// Of all ranks.
  [[nodiscard]] Buffers buffers() const;

 private:
  [[nodiscard]] std::vector<RankBuffers> where() const;

  std::vector<PageBuffer> inputs_, outputs_;  // outputs_ is empty in place
  ExactData data_;
  OperationTraits traits_;
  ThreadsCollective executor_;
};

class ThreadOperation : public Operation {
 public:
  /// `to_walk` is what evict() reads; may be empty if nothing is measured cold.
  ThreadOperation(PreparedCollective& all, int rank, std::span<const std::byte> to_walk)
      : all_(all), rank_(rank), to_walk_(to_walk) {}

  [[nodiscard]] OperationTraits traits() const override { return all_.traits(); }
  void rewrite_input() override;
  void run() override { all_.executor().run(rank_); }
  [[nodiscard]] Check check() const override;
  void evict() override;
  [[nodiscard]] Moved moved() const override { return all_.executor().moved(rank_); }

 private:
  PreparedCollective& all_;
  int rank_;
  std::span<const std::byte> to_walk_;
  int generation_ = 0;
};

}  // namespace collmark
