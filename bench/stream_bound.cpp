#include "bench/stream_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "bench/plain_sum.hpp"
#include "collectives/error.hpp"
#include "collectives/pages.hpp"
#include "collectives/threads.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

using Clock = std::chrono::steady_clock;

void require_positive(const char* what, std::int64_t value) {
  if (value < 1)
    throw Error(ErrorKind::usage, fmt::format("{} must be at least 1, not {}", what, value));
}

/// Elements [first, last) of `count`, the r-th of p.
struct Slice {
  Slice(int r, int p, Elements count)
      : first(static_cast<std::size_t>(count.value * r / p)),
        last(static_cast<std::size_t>(count.value * (r + 1) / p)) {}
  std::size_t first, last;
};

/// The buffers of all ranks and one repetition on them.
class StreamLoop {
 public:
  StreamLoop(int ranks, Elements count, const StreamOptions& options)
      : ranks_(ranks), count_(count), stores_(options.stores) {
    const Bytes size{count.value * static_cast<std::int64_t>(sizeof(float))};
    for (int r = 0; r < ranks; ++r) {
      inputs_.emplace_back(size);
      if (options.placement == Placement::out_of_place) outputs_.emplace_back(size);
    }
  }

  void rewrite_input(int rank) {
    std::byte* const data = inputs_[static_cast<std::size_t>(rank)].data();
    std::fill_n(reinterpret_cast<float*>(data), count_.value, static_cast<float>(rank));
  }

  /// Rank's part; returns the bytes it read and stored.
  Bytes add_slices(int rank) {
    const Slice slice(rank, ranks_, count_);
    std::vector<const float*> from;
    std::vector<float*> to;
    for (const PageBuffer& b : inputs_)
      from.push_back(reinterpret_cast<const float*>(b.data()) + slice.first);
    for (const PageBuffer& b : outputs_.empty() ? inputs_ : outputs_)
      to.push_back(reinterpret_cast<float*>(b.data()) + slice.first);
    plain_sum(from, to, slice.last - slice.first, stores_);
    const std::size_t bytes = (slice.last - slice.first) * sizeof(float);
    return {static_cast<std::int64_t>((from.size() + to.size()) * bytes)};
  }

 private:
  int ranks_;
  Elements count_;
  Stores stores_;
  std::vector<PageBuffer> inputs_;
  std::vector<PageBuffer> outputs_;  // none: in place
};

/// One per worker and repetition, on a cache line of its own.
struct alignas(64) Reading {
  std::vector<Seconds> times;
  Bytes moved;  // in the last repetition
};

Seconds median_of_slowest(const std::vector<Reading>& readings) {
  std::vector<Seconds> slowest;  // [repetition]; the first only touched the memory
  for (std::size_t i = 1; i < readings[0].times.size(); ++i) {
    Seconds most{};
    for (const Reading& r : readings) most = std::max(most, r.times[i]);
    slowest.push_back(most);
  }
  const auto middle = slowest.begin() + static_cast<std::ptrdiff_t>(slowest.size() / 2);
  std::nth_element(slowest.begin(), middle, slowest.end());
  return *middle;
}

}  // namespace

StreamBound stream_bound(int ranks, Elements count, const StreamOptions& options) {
  require_positive("ranks", ranks);
  require_positive("count", count.value);
  require_positive("repetitions", options.repetitions);

  StreamLoop loop(ranks, count, options);
  const int workers = std::min(ranks, static_cast<int>(this_host().cores.size()));
  std::vector<Reading> readings(static_cast<std::size_t>(workers));
  ThreadTeam team(workers);
  team.run([&](int worker) {
    Reading& mine = readings[static_cast<std::size_t>(worker)];
    for (int i = 0; i <= options.repetitions; ++i) {
      for (int r = worker; r < ranks; r += workers) loop.rewrite_input(r);
      team.barrier(worker);
      mine.moved = {};
      const Clock::time_point start = Clock::now();
      for (int r = worker; r < ranks; r += workers) mine.moved += loop.add_slices(r);
      mine.times.emplace_back(Clock::now() - start);
      team.barrier(worker);  // nobody rewrites an input that is still read
    }
  });

  StreamBound bound{.time = median_of_slowest(readings)};
  for (const Reading& r : readings) bound.moved += r.moved;
  bound.bytes_per_second = static_cast<double>(bound.moved.value) / bound.time.count();
  return bound;
}

}  // namespace collmark
