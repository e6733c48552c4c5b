#include "collectives/own_values.hpp"

#include <map>
#include <utility>

#include "collectives/promise.hpp"

namespace collmark {

/// What happens to one chunk of the rank in one step.
struct OwnValues::Use {
  bool sent = false;       // a peer reads it
  bool read_here = false;  // a merge into another chunk reads it
  bool written = false;
  bool kept = false;  // its own value goes into what is written

  [[nodiscard]] bool read_by_others() const { return sent || read_here; }
};

std::vector<OwnStep> own_steps(const Schedule& s, int rank) {
  std::vector<OwnStep> own;
  for (int step = 0; step < s.steps; ++step) {
    OwnStep mine{.step = step};
    s.step(step, [&](const Transfer& x) {
      require_in_range(s, step, x);
      if (x.src == rank || x.dst == rank) mine.transfers.push_back(x);
    });
    if (!mine.transfers.empty()) own.push_back(std::move(mine));
  }
  return own;
}

OwnValues::OwnValues(const Schedule& s, int rank, const std::vector<OwnStep>& steps) {
  flow_.chunks = s.chunks;
  for (int c = 0; c < s.chunks; ++c) {
    flow_.life.push_back({c});
    flow_.versions.push_back(
        {.rank = rank, .chunk = c, .empty = !held_before(s, rank, c), .readers = {}});
  }
  leaves_in_time_.resize(flow_.versions.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::map<int, Use> uses;  // [chunk]
    for (const Transfer& x : steps[i].transfers) {
      for (int k = 0; k < x.count; ++k) {
        const bool onto_itself = x.src == x.dst && x.src_chunk == x.dst_chunk;
        if (x.src == rank && !onto_itself)
          (x.dst == rank ? uses[x.src_chunk + k].read_here : uses[x.src_chunk + k].sent) = true;
        if (x.dst != rank) continue;
        Use& target = uses[x.dst_chunk + k];
        if (x.verb == Verb::copy || !target.written) target.kept = x.verb == Verb::reduce;
        target.kept |= onto_itself;
        target.written = true;
      }
    }
    for (const auto& [chunk, use] : uses) add(chunk, use, static_cast<int>(i));
  }
}

void OwnValues::add(int chunk, const Use& use, int step) {
  std::vector<int>& life = flow_.life[static_cast<std::size_t>(chunk)];
  const auto now = static_cast<std::size_t>(life.back());
  Version& old = flow_.versions[now];
  if (use.read_by_others() || use.kept) old.readers.push_back(step);
  if (!use.written) return;
  old.contested = use.read_by_others();
  leaves_in_time_[now] = use.kept && !use.read_here;
  life.push_back(static_cast<int>(flow_.versions.size()));
  flow_.versions.push_back({.rank = old.rank, .chunk = chunk, .made_by = step, .readers = {}});
  leaves_in_time_.push_back(false);
}

}  // namespace collmark
