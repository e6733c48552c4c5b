/// Where training steps are measured: runs one step's communication many times, and says where its time went.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/backend.hpp"
#include "bench/step_phases.hpp"
#include "bench/step_work.hpp"

namespace collmark {

/// One point of a bucket sweep.
struct StepCase {
  std::shared_ptr<const ModelList> model;
  const BucketPolicy* policy = nullptr;
  BucketConfig config = {};
  std::string algorithm = "ring";
  Dtype dtype = Dtype::f32;  // of tensors without one of their own
  MeasureOptions measure = {};
  GpuTuning tuning = {};  // cuda: what is asked of its kernels

  [[nodiscard]] int ranks() const { return config.ranks; }
};

struct BucketResult {
  Bucket bucket = {};                 // as planned
  std::optional<Bytes> sent = {};     // counted, over all ranks; empty where nobody counts
  std::optional<Bytes> busiest = {};  // counted, max over ranks of max(sent, received)
  std::optional<int> messages = {};   // max over ranks, sent
  StepPhases phases = {};             // nothing if the step was not timed
};

struct StepResult {
  CaseResult base =
      {};  // wire_busiest and messages_busiest: the sum over buckets; time: the whole step
  std::vector<BucketResult> buckets = {};  // in the order sent; empty if none could be planned
  StepPhases phases = {};                  // of the whole step
  Seconds tail{};                          // the last bucket, packed, reduced and unpacked
  Bytes gradients = {};                    // memory of one rank's gradients
  Bytes buffers = {};                      // memory of one rank's buckets beyond them
  std::optional<Bytes> scratch = {};       // of the executors, over all ranks; empty: a library's
};

class StepBackend {
 public:
  virtual ~StepBackend() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Availability availability() const { return {.here = true, .reason = ""}; }
  /// Where steps run, beside the CPU: a line for each device.
  [[nodiscard]] virtual std::vector<std::string> devices() const { return {}; }

  /// Why the case does not fit into memory, one line; empty if it may.
  [[nodiscard]] virtual std::string obstacle(const StepCase& c) const = 0;
  /// As Backend::begin_launch.
  virtual void begin_launch(int ranks) { (void)ranks; }
  /// Runs in a fresh launch. A case that cannot run is a skipped result with its reason; throws only
  /// what ends the whole run: Error{timed_out, lost, interrupted}.
  [[nodiscard]] virtual StepResult run(const StepCase& c) = 0;
  /// From another thread: the case that runs ends with Error{interrupted}.
  virtual void interrupt() noexcept = 0;
};

/// Those that `step --backend` accepts.
[[nodiscard]] const std::vector<std::string>& step_backend_names();
[[nodiscard]] std::unique_ptr<StepBackend> make_step_backend(std::string_view name,
                                                             const BackendOptions& options);

/// Of so many ranks together: gradients, buffers, and as much again as the gradients for what executors copy.
[[nodiscard]] Bytes memory_of_step(const StepCase& c, int ranks);

/// The buckets of a case and where they lie: what is known without running it. Throws
/// Error{usage} as plan_buckets does, Unsupported for ranks that the algorithm cannot do.
[[nodiscard]] StepWork work_of(const StepCase& c);

/// What is known of a case before it has run.
void add_plan(StepResult& result, const StepWork& work);
void add_phases(StepResult& result, const MedianPhases& phases);

}  // namespace collmark
