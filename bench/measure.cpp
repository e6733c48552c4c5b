#include "bench/measure.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace collmark {
namespace {

constexpr int kFewestForInterval = 20;  // readings before the interval may stop the timing
constexpr int kFewestWarmups = 10;
constexpr int kWindow = 5;        // warm-ups compared at a time
constexpr double kStable = 0.05;  // difference of the medians of two windows
constexpr Seconds kLongestWarmUp{1.0};
constexpr double kTimerCalls = 100;  // that a reading should last, if operations can be batched
constexpr double kBatchFrom = 20;    // timer calls: operations longer than that are read one by one
constexpr double kTicks = 20;        // of a clock of its own, that a reading should last
constexpr Seconds kThroughputReading{1e-3};
constexpr int kMostInBatch = 1'000;
constexpr int kMostFinalLooks = 200;  // single operations checked where batches hid some results
constexpr Seconds kFinalLooks{0.01};
constexpr int kUnknownBatch = 10;  // in throughput mode without a warm-up to learn from

/// Events that happen to a thread, not by its will.
struct Disturbances {
  long count = 0;
  friend bool operator==(Disturbances, Disturbances) = default;
};

Disturbances disturbances() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return {usage.ru_nivcsw + usage.ru_minflt + usage.ru_majflt};
}

/// Takes readings on this rank and checks what each leaves behind.
class Reader {
 public:
  Reader(Team& team, Operation& operation, const MeasureOptions& options)
      : team_(team),
        operation_(operation),
        options_(options),
        clock_(operation.own_clock()),
        keeps_input_(operation.traits().keeps_input) {}

  [[nodiscard]] Sample read(int batch) {
    prepare();
    const Sample sample = clock_ != nullptr ? on_own_clock(batch) : on_host_clock(batch);
    team_.barrier();  // who checks already takes core and memory from those still at work
    if (is_known(batch)) look();
    return sample;
  }

  /// Fresh inputs, one operation, every element compared.
  void verify() {
    operation_.rewrite_input();
    (void)(clock_ != nullptr ? on_own_clock(1) : on_host_clock(1));
    team_.barrier();
    look();
  }

  [[nodiscard]] const Check& check() const { return check_; }

 private:
  [[nodiscard]] Sample on_host_clock(int batch) {
    const Disturbances before = disturbances();
    const Start start = team_.start_together();
    run(batch);
    return {Clock::now() - start.at, disturbances() != before, start.late};
  }

  /// What is queued waits for stop(), so the start is agreed on behind the queueing, which takes each rank another time.
  [[nodiscard]] Sample on_own_clock(int batch) {
    clock_->start();
    run(batch);
    const Start start = team_.start_together();
    return {clock_->stop(), false, start.late};
  }

  void prepare() {
    if (options_.cache != CacheState::untouched) operation_.rewrite_input();
    if (options_.cache == CacheState::cold) operation_.evict();
  }

  void run(int batch) {
    operation_.run();
    for (int i = 1; i < batch; ++i) {
      if (rewrites_in_batch()) operation_.rewrite_input();
      operation_.run();
    }
  }

  /// Latency mode keeps its cache state inside a batch too. The few bytes written count as time; a device's launches would not be few.
  [[nodiscard]] bool rewrites_in_batch() const {
    return clock_ == nullptr && options_.mode == Mode::latency &&
           options_.cache != CacheState::untouched;
  }

  /// In place, an operation on the result of the one before has no known answer.
  [[nodiscard]] bool is_known(int batch) const {
    if (keeps_input_) return true;
    return options_.cache != CacheState::untouched && (batch == 1 || rewrites_in_batch());
  }

  void look() {
    const Check now = operation_.check();
    if (check_.wrong == 0) check_.first = now.first;
    check_.wrong += now.wrong;
  }

  Team& team_;
  Operation& operation_;
  const MeasureOptions& options_;
  OwnClock* clock_;
  bool keeps_input_;
  Check check_;
};

/// At rank 0: all that any rank found, and the first of it.
Check gathered(Team& team, const Check& mine) {
  Check all;
  for (const Check& one : gathered_at_rank_0(team, std::span(&mine, 1))) {
    if (all.wrong == 0) all.first = one.first;
    all.wrong += one.wrong;
  }
  return all;
}

/// At rank 0: the slowest rank of each reading [s].
std::vector<double> slowest(const std::vector<Sample>& samples, int ranks) {
  std::vector<double> times;
  for (std::size_t i = 0; i < samples.size(); i += static_cast<std::size_t>(ranks)) {
    Nanoseconds longest{0};
    for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r)
      longest = std::max(longest, samples[i + r].time);
    times.push_back(Seconds(longest).count());
  }
  return times;
}

/// `count` readings on every rank; at rank 0 all ranks' samples, reading-major.
std::vector<Sample> readings(Team& team, Reader& reader, int count, int batch) {
  std::vector<Sample> mine(static_cast<std::size_t>(count));  // no allocation between readings
  for (Sample& sample : mine) sample = reader.read(batch);
  const std::vector<Sample> by_rank = gathered_at_rank_0(team, std::span<const Sample>(mine));
  std::vector<Sample> by_reading;
  const std::size_t ranks = by_rank.size() / mine.size();
  for (std::size_t i = 0; i < mine.size(); ++i)
    for (std::size_t r = 0; r < ranks; ++r) by_reading.push_back(by_rank[r * mine.size() + i]);
  return by_reading;
}

/// True, on all ranks, as long as no rank has seen a wrong element.
bool all_correct(Team& team, const Reader& reader, Measurement& m) {
  const Check check = gathered(team, reader.check());
  return decided_by_rank_0(team, [&] {
    m.check = check;
    return check.wrong == 0;
  });
}

/// At least ten operations however long they take, then until two windows of five agree or the time
/// is spent; or as many as were asked for. Returns the time of one operation [s], 0 if there was no
/// warm-up.
double warm_up(Team& team, Reader& reader, const MeasureOptions& options, Measurement& m) {
  if (options.warmups) {
    if (*options.warmups == 0) return 0.0;
    m.warmups = *options.warmups;
    const std::vector<Sample> all = readings(team, reader, m.warmups, 1);
    return all.empty() ? 0.0 : median(slowest(all, team.ranks()));
  }
  struct Verdict {
    bool go_on = true;
    double time = 0.0;
  } verdict;
  const auto begin = Clock::now();
  const Seconds limit = std::min(kLongestWarmUp, options.time_budget);
  while (verdict.go_on) {
    const std::vector<Sample> window = readings(team, reader, kWindow, 1);
    m.warmups += kWindow;
    verdict = decided_by_rank_0(team, [&] {
      const double now = median(slowest(window, team.ranks()));
      const bool stable = std::abs(now - verdict.time) <= kStable * verdict.time;
      const bool spent = Clock::now() - begin >= limit;
      return Verdict{m.warmups < kFewestWarmups || !(stable || spent), now};
    });
  }
  return verdict.time;
}

/// Several operations per reading where the clock is too coarse for one, or in throughput mode.
int choose_batch(double time, Operation& operation, const MeasureOptions& options) {
  if (time <= 0.0) return options.mode == Mode::throughput ? kUnknownBatch : 1;
  const auto enough = [&](double reading) {
    return std::clamp(static_cast<int>(std::ceil(reading / time)), 1, kMostInBatch);
  };
  if (options.mode == Mode::throughput) return std::max(2, enough(kThroughputReading.count()));
  const bool stays_cold = options.cache == CacheState::cold;  // only the first of a batch would be
  if (!operation.traits().synchronising || stays_cold) return 1;
  if (OwnClock* own = operation.own_clock()) return enough(kTicks * Seconds(own->tick()).count());
  const double call = options.timer_call.count();
  return time >= kBatchFrom * call ? 1 : enough(kTimerCalls * call);
}

/// How many more readings before the next look, or why there are none.
struct Decision {
  int more = 0;
  StopReason reason = StopReason::count;
};

/// Rank 0's view of the timing so far.
Decision decide(const Measurement& m, const MeasureOptions& options, Seconds elapsed) {
  const Summary s = summarise(slowest(m.samples, m.ranks));
  const auto n = static_cast<int>(s.n);
  if (n >= options.most_iterations) return {0, StopReason::count};
  if (n >= kFewestForInterval && s.interval &&
      std::max(s.p50 - s.interval->low, s.interval->high - s.p50) < options.narrow_enough * s.p50)
    return {0, StopReason::interval};
  if (n > 0 && elapsed >= options.time_budget) return {0, StopReason::time};
  // Few looks: each costs a gather, and stopping at the first lucky look would narrow the interval.
  int more = n == 0 ? kWindow : n < kFewestForInterval ? kFewestForInterval - n : n / 2;
  if (n > 0) {
    const double affordable = (options.time_budget - elapsed).count() / (elapsed.count() / n);
    more = std::min(more, static_cast<int>(std::ceil(affordable)));
  }
  return {std::clamp(more, 1, options.most_iterations - n), StopReason::count};
}

/// Readings until the interval is narrow, the time is spent or there are enough.
void time_operations(Team& team, Reader& reader, const MeasureOptions& options, Measurement& m) {
  const auto begin = Clock::now();
  while (true) {
    const Decision next =
        decided_by_rank_0(team, [&] { return decide(m, options, Seconds(Clock::now() - begin)); });
    m.stop_reason = next.reason;
    if (next.more == 0) return;
    const std::vector<Sample> some = readings(team, reader, next.more, m.batch);
    m.samples.insert(m.samples.end(), some.begin(), some.end());
    if (!all_correct(team, reader, m)) return;
  }
}

void summarise_samples(Measurement& m) {
  std::vector<double> times = slowest(m.samples, m.ranks);
  for (double& t : times) t /= m.batch;
  m.time = summarise(std::move(times));
  const auto ranks = static_cast<std::ptrdiff_t>(m.ranks);
  for (auto at = m.samples.begin(); at != m.samples.end(); at += ranks) {
    m.disturbed += std::any_of(at, at + ranks, [](const Sample& s) { return s.disturbed; }) ? 1 : 0;
    m.late_starts += std::any_of(at, at + ranks, [](const Sample& s) { return s.late; }) ? 1 : 0;
  }
}

/// How many single operations are checked at the end, so that a fault in one of 200 operations shows. Every
/// reading of one operation was looked at; of a batch only the last result was, or none at all where the
/// results had no known answer.
int final_looks(const Measurement& m) {
  if (m.time.p50 <= 0.0) return 1;
  const int seen = m.batch == 1 ? m.iterations() : 0;
  const double affordable = kFinalLooks.count() / m.time.p50;
  return static_cast<int>(std::clamp(std::min(affordable, double{kMostFinalLooks} - seen), 1.0,
                                     double{kMostFinalLooks}));
}

}  // namespace

std::string_view name(Mode mode) { return mode == Mode::latency ? "latency" : "throughput"; }

std::string_view name(CacheState cache) {
  constexpr std::array<std::string_view, 3> kNames{"touched", "cold", "untouched"};
  return kNames[static_cast<std::size_t>(cache)];
}

std::string_view name(StopReason reason) {
  constexpr std::array<std::string_view, 3> kNames{"interval", "time", "count"};
  return kNames[static_cast<std::size_t>(reason)];
}

Measurement measure(Team& team, Operation& operation, const MeasureOptions& options) {
  Measurement m;
  m.ranks = team.ranks();
  Reader reader(team, operation, options);

  reader.verify();
  if (!all_correct(team, reader, m)) return m;

  const double time = warm_up(team, reader, options, m);
  m.batch = decided_by_rank_0(team, [&] { return choose_batch(time, operation, options); });
  time_operations(team, reader, options, m);

  summarise_samples(m);
  const int looks = decided_by_rank_0(team, [&] { return final_looks(m); });
  for (int i = 0; i < looks; ++i) reader.verify();
  (void)all_correct(team, reader, m);
  return m;
}

}  // namespace collmark
