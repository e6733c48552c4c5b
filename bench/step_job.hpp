/// One training step's communication on the threads of this process: every rank packs its gradients
/// into a bucket, the bucket is all-reduced, every rank unpacks it; bucket after bucket.
#pragma once

#include <memory>
#include <vector>

#include "bench/exact_data.hpp"
#include "bench/operation.hpp"
#include "bench/page_report.hpp"
#include "bench/step_phases.hpp"
#include "bench/step_work.hpp"
#include "bench/team.hpp"
#include "collectives/pages.hpp"
#include "collectives/threads.hpp"

namespace collmark {

/// Memory, inputs and executors of a step, for all ranks of a team.
class StepJob {
 public:
  /// Throws Unsupported if no exact gradients of some dtype exist for so many ranks.
  StepJob(ThreadTeam& team, StepWork work);

  [[nodiscard]] const StepWork& work() const { return work_; }
  [[nodiscard]] ThreadsCollective& executor(std::size_t bucket) { return *executors_[bucket]; }
  [[nodiscard]] std::byte* gradient(int rank, const Piece& piece) const;
  [[nodiscard]] std::byte* bucket(int rank, std::size_t bucket) const;

  void write_gradients(int rank, int generation);
  /// Every gradient of the rank against the exact mean.
  [[nodiscard]] Check check(int rank, int generation) const;
  [[nodiscard]] Buffers all_buffers() const;  // gradients and buckets of all ranks
  [[nodiscard]] Bytes scratch() const;        // of the executors, over all ranks

 private:
  struct Memory {                       // of one rank
    std::vector<PageBuffer> gradients;  // per arena
    std::vector<PageBuffer> buffers;
  };
  [[nodiscard]] std::byte* at(int rank, std::size_t arena, Elements offset) const;

  StepWork work_;
  std::vector<ExactData> data_;                                // per arena
  std::vector<Memory> memory_;                                 // per rank
  std::vector<std::unique_ptr<ThreadsCollective>> executors_;  // per bucket
};

/// One rank's part of it, to be timed.
class StepOperation : public Operation {
 public:
  StepOperation(StepJob& job, int rank);

  [[nodiscard]] OperationTraits traits() const override {
    return {.synchronising = false, .keeps_input = false};
  }
  void rewrite_input() override;
  void run() override;
  [[nodiscard]] Check check() const override { return job_.check(rank_, generation_); }
  void evict() override;
  [[nodiscard]] Moved moved() const override;

  /// Of every run so far, bucket after bucket.
  [[nodiscard]] const std::vector<BucketTimes>& times() const { return times_; }

 private:
  void make_room();
  void pack(std::size_t bucket);
  void unpack(std::size_t bucket);

  StepJob& job_;
  int rank_;
  int generation_ = 0;
  std::vector<BucketTimes> times_;
  std::size_t taken_ = 0;  // of times_
};

}  // namespace collmark
