#include "collectives/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "collectives/error.hpp"

namespace collmark {
namespace {

/// What makes two steps the same traffic, and whether they reduce.
struct Pattern {
  std::map<std::pair<int, int>, int> chunks;  // (src, dst) -> chunks sent
  bool reduces = false;
};

Pattern pattern(const Schedule& s, int step) {
  Pattern p;
  s.step(step, [&](const Transfer& x) {
    if (x.src != x.dst) p.chunks[{x.src, x.dst}] += x.count;
    p.reduces |= x.verb == Verb::reduce;
  });
  return p;
}

void require_same(const char* what, int a, int b) {
  if (a != b)
    throw Error(ErrorKind::usage, fmt::format("cannot compose: {} {} and {}", what, a, b));
}

}  // namespace

std::vector<TrafficRun> same_every_step(int steps, Verb verb) {
  if (steps <= 0) return {};
  return {{.steps = steps, .reducing = verb == Verb::reduce ? steps : 0}};
}

std::vector<TrafficRun> traffic_runs(const Schedule& s) {
  if (!s.traffic.empty()) return s.traffic;
  return std::vector<TrafficRun>(static_cast<std::size_t>(s.steps), TrafficRun{1});
}

Schedule then(Schedule a, Schedule b) {
  require_same("ranks", a.ranks, b.ranks);
  require_same("chunks", a.chunks, b.chunks);
  if (b.steps == 0) return a;
  if (a.steps == 0) return b;
  std::vector<TrafficRun> runs = traffic_runs(a);
  std::vector<TrafficRun> rest = traffic_runs(b);
  if (runs.back().steps > 1 || rest.front().steps > 1) {  // else not worth a look
    const Pattern last = pattern(a, a.steps - 1), next = pattern(b, 0);
    if (!next.reduces && next.chunks == last.chunks) {  // copies carry on the same traffic
      if (runs.back().steps == 1) runs.back().reducing = last.reduces ? 1 : 0;
      runs.back().steps += rest.front().steps;
      rest.erase(rest.begin());
    }
  }
  runs.insert(runs.end(), rest.begin(), rest.end());

  Schedule both = a;
  both.steps = a.steps + b.steps;
  both.traffic = std::move(runs);
  both.step = [a_steps = a.steps, first = std::move(a.step), second = std::move(b.step)](
                  int step, Emit emit) {
    step < a_steps ? first(step, emit) : second(step - a_steps, emit);
  };
  return both;
}

Schedule beside(Schedule a, Schedule b) {
  require_same("ranks", a.ranks, b.ranks);
  Schedule both = a;
  both.steps = std::max(a.steps, b.steps);
  both.chunks = a.chunks + b.chunks;
  both.traffic = {};
  both.step = [a, b](int step, Emit emit) {
    if (step < a.steps) a.step(step, emit);
    if (step >= b.steps) return;
    b.step(step, [&](Transfer x) {
      x.src_chunk += a.chunks;
      x.dst_chunk += a.chunks;
      emit(x);
    });
  };
  return both;
}

Schedule reversed(Schedule s) {
  Schedule back = s;
  back.traffic = traffic_runs(s);
  std::reverse(back.traffic.begin(), back.traffic.end());
  for (TrafficRun& run : back.traffic) run.reducing = 0;
  back.step = [steps = s.steps, forward = std::move(s.step)](int step, Emit emit) {
    forward(steps - 1 - step, [&](const Transfer& x) {
      if (x.src == x.dst && x.src_chunk == x.dst_chunk) return;
      emit({x.dst, x.src, x.dst_chunk, x.src_chunk, Verb::copy, x.count});
    });
  };
  return back;
}

Schedule renumbered(Schedule s, int ranks, std::function<int(int)> as) {
  Schedule other = s;
  other.ranks = ranks;
  other.step = [inner = std::move(s.step), as = std::move(as)](int step, Emit emit) {
    inner(step, [&](Transfer x) {
      x.src = as(x.src);
      x.dst = as(x.dst);
      emit(x);
    });
  };
  return other;
}

Schedule folded(Schedule s, int ranks) {
  const int extra = ranks - s.ranks;
  Schedule core = renumbered(s, ranks, [](int rank) { return rank; });
  if (extra == 0) return core;
  Schedule hand_over = core;
  hand_over.steps = 1;
  hand_over.traffic = {};
  hand_over.step = [=, partners = s.ranks, all = s.chunks](int, Emit emit) {
    for (int i = 0; i < extra; ++i)
      emit(Reduce{.src = partners + i, .dst = i, .chunk = 0, .count = all});
  };
  return then(then(hand_over, core), reversed(hand_over));
}

std::vector<Transfer> transfers(const Schedule& s, int step) {
  std::vector<Transfer> list;
  s.step(step, [&](const Transfer& x) { list.push_back(x); });
  return list;
}

}  // namespace collmark
