/// Where collectives run: threads of this process, MPI processes, GPUs. A backend turns one case
/// into one result; sweep, step and the records know nothing else about it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure.hpp"
#include "collectives/cost.hpp"
#include "collectives/dtype.hpp"
#include "collectives/units.hpp"
#include "kernels/gpu_condition.hpp"
#include "kernels/gpu_tuning.hpp"

namespace collmark {

[[nodiscard]] std::string_view name(Placement placement);
inline constexpr std::array kPlacements{Placement::in_place, Placement::out_of_place};

/// One point of a sweep on one backend.
struct Case {
  Collective collective = Collective::all_reduce;
  std::string algorithm = "ring";  // as asked for, with parameter
  int ranks = 2;
  Elements count;  // of each rank's buffer
  Dtype dtype = Dtype::f32;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  Placement placement = Placement::in_place;
  MeasureOptions measure = {};
  GpuTuning tuning = {};  // cuda: what is asked of its kernels

  [[nodiscard]] Bytes size() const {
    return {count.value * static_cast<std::int64_t>(size_of(dtype))};
  }
};

enum class Status { ok, skipped, failed };
[[nodiscard]] std::string_view name(Status status);

/// What a backend knows about a case it has run. `measurement` counts only if status is ok or
/// failed.
struct CaseResult {
  Status status = Status::ok;
  std::string reason = {};          // of skipped and failed, one line
  std::string implementation = {};  // "collmark", or the library and its version
  std::string algorithm = {};       // the one that ran
  int nodes = 1;
  Measurement measurement = {};
  std::optional<Bytes> chunk = {};  // largest chunk of the schedule
  std::optional<Bytes> wire_busiest =
      {};  // max over ranks of max(sent, received), counted at the move
  std::optional<int> messages_busiest = {};  // max over ranks of messages sent
  std::optional<int> rounds = {};            // steps of the schedule
  std::optional<double> flag_ns = {};  // one way between the first two ranks' cores, before ...
  std::optional<double> flag_after_ns = {};  // ... and after the case
  std::string pages = {};  // that the buffers got: huge, small or mixed; empty if unknown
  bool oversubscribed = false;
  std::optional<LinkCost> link =
      {};  // between ranks, of the model's time; empty where it is unknown
  // Of GPUs:
  std::string device = {};                       // name of the first
  std::optional<int> devices = {};               // that the ranks share
  std::string tuning = {};                       // that ran, "channels=8 threads=512 ..."
  GpuCondition gpu_before = {}, gpu_after = {};  // of all of them, the worst
};

struct Availability {
  bool here = false;
  std::string reason;  // why not, one line
};

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Availability availability() const = 0;
  /// What a case will allocate, over all ranks of this host, and what there is.
  [[nodiscard]] virtual Bytes memory_needed(const Case& c) const = 0;
  [[nodiscard]] virtual Bytes memory_available() const = 0;
  /// A line for each device that it uses, beside the CPU.
  [[nodiscard]] virtual std::vector<std::string> devices() const { return {}; }
  /// The cases that follow belong to another launch, none of them with more ranks than this. Backends whose
  /// every case is a fresh launch need not know.
  virtual void begin_launch(int ranks) { (void)ranks; }
  /// Runs one case in a fresh launch. Whatever concerns this case alone is in the result; throws
  /// only what ends the whole run: Error{timed_out, lost, interrupted}.
  [[nodiscard]] virtual CaseResult run(const Case& c) = 0;
  /// No case follows. Backends whose ranks end with each case have nothing to do.
  ///   Throws   Error{timed_out, lost, interrupted} if ranks do not end
  virtual void end() {}
  /// From another thread: the case that runs ends with Error{interrupted}.
  virtual void interrupt() noexcept = 0;
};

/// Of a result that is wrong: the first element, one line.
[[nodiscard]] std::string describe(const Check& check, Dtype dtype);

/// Runs `measure`. A case that cannot run here, for a reason of its own or for want of memory, is a skipped row that says why.
void measure_or_skip(CaseResult& result, const std::function<void()>& measure);

/// So many times as much; the most that can be said, where that is more.
[[nodiscard]] Bytes copies_of(Bytes size, std::int64_t copies);

/// Why a case that needs so much memory cannot run, one line; empty if it can.
[[nodiscard]] std::string memory_obstacle(Bytes needed, Bytes available);

class MpiLaunch;

struct BackendOptions {
  std::chrono::milliseconds timeout{30'000};  // of any single wait
  std::string hostfile = {};                  // mpi: for mpirun; empty means this host
  std::string launcher_arguments = {};        // mpi: for mpirun, as a shell would split them
  bool processes = false;  // cuda, nccl: one for each rank, though no launcher started us
  bool registers = false;  // nccl: a case will want registered buffers
  std::shared_ptr<MpiLaunch> job = {};  // that this process has joined already, if it has
};

/// Every name that `--backend` accepts; those not built into this program say so in availability().
[[nodiscard]] const std::vector<std::string>& backend_names();
/// Throws Error{usage} with a did-you-mean.
[[nodiscard]] std::unique_ptr<Backend> make_backend(std::string_view name,
                                                    const BackendOptions& options);

}  // namespace collmark
