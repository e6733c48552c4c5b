/// Runs one training step's communication on the threads of this process, many times, and says where
/// its time went.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/backend.hpp"
#include "bench/running_launch.hpp"
#include "bench/step_job.hpp"
#include "bench/thread_member.hpp"

namespace collmark {

/// One point of a bucket sweep.
struct StepCase {
  std::shared_ptr<const ModelList> model;
  const BucketPolicy* policy = nullptr;
  BucketConfig config = {};
  std::string algorithm = "ring";
  Dtype dtype = Dtype::f32;  // of tensors without one of their own
  MeasureOptions measure = {};

  [[nodiscard]] int ranks() const { return config.ranks; }
};

/// Medians over the timed steps, each step as its slowest rank saw it: pack + wire + unpack is that
/// rank's whole step.
struct StepPhases {
  Seconds pack{};
  Seconds wire{};  // with the wait for slower ranks
  Seconds unpack{};
};

struct BucketResult {
  Bucket bucket = {};      // as planned
  Bytes sent = {};         // counted, over all ranks
  Bytes busiest = {};      // counted, max over ranks of max(sent, received)
  int messages = 0;        // max over ranks, sent
  StepPhases phases = {};  // nothing if the step was not timed
};

struct StepResult {
  CaseResult base =
      {};  // wire_busiest and messages_busiest: the sum over buckets; time: the whole step
  std::vector<BucketResult> buckets = {};  // in the order sent; empty if none could be planned
  StepPhases phases = {};                  // of the whole step
  Seconds tail{};                          // the last bucket, packed, reduced and unpacked
  Bytes gradients = {};                    // memory of one rank's gradients
  Bytes buffers = {};                      // memory of one rank's buckets beyond them
  Bytes scratch = {};                      // of the executors, over all ranks
};

class StepBackend {
 public:
  explicit StepBackend(const BackendOptions& options);

  /// Over all ranks: gradients, buffers, and as much again as the gradients for what executors copy.
  [[nodiscard]] static Bytes memory_needed(const StepCase& c);
  /// Runs in a fresh launch. A case that cannot run is a skipped result with its reason; throws only
  /// what ends the whole run: Error{timed_out, lost, interrupted}.
  [[nodiscard]] StepResult run(const StepCase& c);
  /// From another thread: the case that runs ends with Error{interrupted}.
  void interrupt() noexcept;

 private:
  void measure_into(StepResult& result, const StepCase& c, StepWork work);

  BackendOptions options_;
  std::vector<int> cores_;
  RunningLaunch running_;
};

/// The buckets of a case and where they lie: what is known without running it. Throws
/// Error{usage} as plan_buckets does, Unsupported for ranks that the algorithm cannot do.
[[nodiscard]] StepWork work_of(const StepCase& c);

/// What each rank recorded of each of its runs, bucket after bucket; the runs that were timed start
/// at `first`.
struct StepTimes {
  std::vector<std::vector<BucketTimes>> by_rank;
  std::size_t buckets = 1;
  std::size_t first = 0;

  [[nodiscard]] const BucketTimes& of(std::size_t rank, std::size_t reading,
                                      std::size_t bucket) const {
    return by_rank[rank][(first + reading) * buckets + bucket];
  }
};

/// Fills in the phases of the step and of its buckets, and the tail.
void add_phases(StepResult& result, const StepTimes& times);

}  // namespace collmark
