#include "collectives/holdings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace collmark {

Holdings::Holdings(const Schedule& s)
    : s_(s), held_(index(s.ranks, 0)), written_(held_.size(), false) {
  for (int r = 0; r < s.ranks; ++r)
    for (int c = 0; c < s.chunks; ++c)
      if (const auto own = held_before(s, r, c)) held_[index(r, c)].push_back(*own);
}

std::size_t Holdings::index(int rank, int chunk) const {
  return static_cast<std::size_t>(rank) * static_cast<std::size_t>(s_.chunks) +
         static_cast<std::size_t>(chunk);
}

void Holdings::advance(int step) {
  const auto before = held_;
  written_.assign(held_.size(), false);
  // Where the list names a chunk's own value, adding starts from nothing instead of from it.
  s_.step(step, [&](const Transfer& x) {
    for (int i = 0; i < x.count; ++i)
      if (x.src == x.dst && x.src_chunk == x.dst_chunk && x.verb == Verb::reduce)
        held_[index(x.dst, x.dst_chunk + i)].clear();
  });
  s_.step(step, [&](const Transfer& x) {
    if (x.verb == Verb::signal) hear(x, before);
    for (int i = 0; i < x.count; ++i) receive(x, i, before);
  });
}

void Holdings::receive(const Transfer& x, int i,
                       const std::vector<std::vector<Contribution>>& before) {
  const std::size_t to = index(x.dst, x.dst_chunk + i);
  const auto& value = before[index(x.src, x.src_chunk + i)];
  auto& held = held_[to];
  if (x.verb == Verb::copy) held.clear();
  held.insert(held.end(), value.begin(), value.end());
  std::sort(held.begin(), held.end());
  written_[to] = true;
}

/// A message without data says that its sender, and all that it has heard from, arrived.
void Holdings::hear(const Transfer& x, const std::vector<std::vector<Contribution>>& before) {
  const std::size_t to = index(x.dst, 0);
  const auto& news = before[index(x.src, 0)];
  auto& heard = held_[to];
  heard.insert(heard.end(), news.begin(), news.end());
  std::sort(heard.begin(), heard.end());
  heard.erase(std::unique(heard.begin(), heard.end()), heard.end());
  written_[to] = true;
}

const std::vector<Contribution>& Holdings::at(int rank, int chunk) const {
  return held_[index(rank, chunk)];
}

bool Holdings::written(int rank, int chunk) const { return written_[index(rank, chunk)]; }

std::string Holdings::text(int rank, int chunk) const {
  const auto& held = at(rank, chunk);
  if (held.empty()) return ".";
  if (s_.collective == Collective::all_to_all)
    return fmt::format("{}>{}", held.front().rank, held.front().chunk);
  const auto contributors = static_cast<std::size_t>(s_.ranks - s_.servers);
  const bool adds_up = reduces(s_.collective) || s_.collective == Collective::barrier;
  if (adds_up && contributors > 1 && held.size() == contributors &&
      std::adjacent_find(held.begin(), held.end()) == held.end())
    return s_.collective == Collective::barrier ? "all" : "sum";
  std::string ranks;
  for (const Contribution& c : held)
    ranks += (s_.ranks > 10 && !ranks.empty() ? "+" : "") + std::to_string(c.rank);
  return ranks;
}

}  // namespace collmark
