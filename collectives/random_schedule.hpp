/// Schedules that no one would write, for tests: what holds for them holds for an author's next algorithm.
#pragma once

#include <fmt/format.h>

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collectives/promise.hpp"
#include "collectives/schedule.hpp"

namespace collmark {

/// Random transfers, no algorithm's. What was never written is neither sent nor added to.
inline Schedule random_schedule(std::mt19937& random, Collective collective) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Schedule s{.ranks = 2 + below(3), .chunks = 1 + below(3), .steps = 1 + below(4)};
  s.collective = collective;
  if (collective == Collective::all_to_all) s.chunks = 2 * s.ranks;
  std::set<std::pair<int, int>> held;  // (rank, chunk)
  for (int r = 0; r < s.ranks; ++r)
    for (int c = 0; c < s.chunks; ++c)
      if (held_before(s, r, c)) held.insert({r, c});
  std::vector<std::vector<Transfer>> steps(static_cast<std::size_t>(s.steps));
  for (std::vector<Transfer>& step : steps) {
    const std::set<std::pair<int, int>> before = held;
    for (int i = 1 + below(5); i > 0; --i) {
      Transfer x{.src = below(s.ranks), .dst = below(s.ranks), .src_chunk = below(s.chunks)};
      x.dst_chunk = below(3) > 0 ? x.src_chunk : below(s.chunks);
      if (below(2) == 0 && before.contains({x.dst, x.dst_chunk})) x.verb = Verb::reduce;
      if (!before.contains({x.src, x.src_chunk})) continue;
      held.insert({x.dst, x.dst_chunk});
      step.push_back(x);
    }
  }
  s.step = [steps](int step, Emit emit) {
    for (const Transfer& x : steps[static_cast<std::size_t>(step)]) emit(x);
  };
  return s;
}

/// One line, for a failure's message.
inline std::string listed(const Schedule& s) {
  std::string text = fmt::format("{} ranks, {} chunks:", s.ranks, s.chunks);
  for (int t = 0; t < s.steps; ++t)
    for (const Transfer& x : transfers(s, t))
      text += fmt::format(" [{}] {}.{}{}{}.{}", t, x.src, x.src_chunk,
                          x.verb == Verb::copy ? "->" : "+>", x.dst, x.dst_chunk);
  return text;
}

}  // namespace collmark
