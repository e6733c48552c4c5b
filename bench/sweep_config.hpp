/// What was asked of a sweep.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/backend.hpp"

namespace collmark {

struct SweepConfig {
  std::vector<std::string> backends = {"threads"};
  std::vector<Collective> collectives = {Collective::all_reduce};
  std::vector<std::string> algorithms = {"all"};  // "all": the whole catalogue of the collective
  std::vector<int> ranks = {2};
  std::vector<Bytes> sizes = {};
  std::vector<Dtype> dtypes = {Dtype::f32};
  std::vector<ReduceOp> ops = {ReduceOp::sum};
  std::vector<Placement> placements = {Placement::in_place};
  std::vector<CacheState> caches = {CacheState::touched};
  std::vector<Mode> modes = {Mode::latency};
  int root = 0;
  int launches = 1;
  std::string hostfile = {};            // where mpirun starts the ranks of the mpi backend, ...
  std::string launcher_arguments = {};  // ... and how
  std::vector<GpuTuning> tunings = {GpuTuning{}};  // of cuda: every combination of its knobs
  bool processes = false;                          // of cuda: one for each rank
  MeasureOptions measure = {};  // of every case; mode and cache come from the lists
  std::uint64_t seed = 1;
};

/// What two runs must have in common for the rows of one to continue the other's.
[[nodiscard]] nlohmann::json to_json(const SweepConfig& config);

/// One case on one backend, in one launch.
struct PlannedCase {
  int seq = 0;
  int launch = 0;
  std::size_t backend = 0;  // of config.backends
  Bytes asked_size;         // before it was rounded down to whole elements
  Case c;
};

/// Every case of every launch, launch after launch, each in an order of its own that the seed
/// decides: no case always follows the same other one. Throws Error{usage} for an algorithm that no
/// catalogue knows.
[[nodiscard]] std::vector<PlannedCase> plan_sweep(const SweepConfig& config);

/// The time the case takes if it does not stop early.
[[nodiscard]] Seconds longest_time(const PlannedCase& planned);

/// Throws Error{usage} for an algorithm that no catalogue knows, or whose file is none. That it cannot
/// do so many ranks is no fault.
void require_known(Collective collective, const std::string& algorithm, int ranks);

/// Throws Error{usage} for more cases than can be planned, which is more than anyone waits for.
void require_plannable(double cases);

}  // namespace collmark
