/// Times one collective operation as MPI practice demands: ranks start together, the slowest rank
/// counts, the median has an interval, every result is checked, nothing is thrown away.
///   Sources  Hoefler & Belli, "Scientific Benchmarking of Parallel Computing Systems", SC 2015;
///            Hunold & Carpen-Amarie, "MPI Benchmarking Revisited", arXiv 1505.07734.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/operation.hpp"
#include "bench/statistics.hpp"
#include "bench/team.hpp"
#include "collectives/units.hpp"

namespace collmark {

/// latency: one operation at a time, started together. throughput: a batch back to back, nothing
/// between.
enum class Mode { latency, throughput };
/// What was done to each rank's input before an operation, outside the timed region.
enum class CacheState { touched, cold, untouched };
enum class StopReason { interval, time, count };
inline constexpr std::array kModes{Mode::latency, Mode::throughput};
inline constexpr std::array kCacheStates{CacheState::touched, CacheState::cold,
                                         CacheState::untouched};

[[nodiscard]] std::string_view name(Mode mode);
[[nodiscard]] std::string_view name(CacheState cache);
[[nodiscard]] std::string_view name(StopReason reason);

struct MeasureOptions {
  Mode mode = Mode::latency;
  CacheState cache = CacheState::touched;
  std::optional<int> warmups = {};  // exactly so many; otherwise until stable (see measure.cpp)
  int most_iterations = 2'000;      // readings
  Seconds time_budget{0.5};         // of the timed readings, with what lies between them
  double narrow_enough = 0.025;     // half width of the interval of the median, over the median
  Seconds timer_call{25e-9};        // what one reading of the clock costs
};

/// One rank's reading of the clock. Time of the whole reading; divide by `batch` for one operation.
struct Sample {
  Nanoseconds time{};
  bool disturbed = false;  // an involuntary context switch or a page fault inside it
  bool late = false;       // the agreed start had passed
};

struct Measurement {
  int warmups = 0;
  int batch = 1;  // operations per reading
  StopReason stop_reason = StopReason::count;
  Summary time;         // [s] of one operation, the slowest rank of each reading
  int disturbed = 0;    // readings in which any rank was
  int late_starts = 0;  // readings in which any rank was
  Check check;          // of every output looked at, before, during and after timing
  int ranks = 0;
  std::vector<Sample> samples;  // reading-major: samples[i * ranks + rank]

  [[nodiscard]] int iterations() const { return static_cast<int>(time.n); }
  /// False for a case that ended before anybody could look at a result.
  [[nodiscard]] bool looked() const { return ranks > 0; }
  [[nodiscard]] bool correct() const { return check.wrong == 0; }
};

/// Called by every rank. The Measurement is complete at rank 0; elsewhere only its counts are.
/// Stops at the first wrong result.
[[nodiscard]] Measurement measure(Team& team, Operation& operation, const MeasureOptions& options);

}  // namespace collmark
