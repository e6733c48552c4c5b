#include "collectives/dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "collectives/error.hpp"
#include "collectives/promise.hpp"

namespace collmark {
namespace {

class Walk {
 public:
  explicit Walk(const Schedule& s) : s_(s) {
    flow_.ranks = s.ranks;
    flow_.chunks = s.chunks;
    for (int r = 0; r < s.ranks; ++r) {
      for (int c = 0; c < s.chunks; ++c) {
        flow_.life.push_back({static_cast<int>(flow_.versions.size())});
        flow_.versions.push_back(
            {.rank = r, .chunk = c, .empty = !held_before(s, r, c), .readers = {}});
      }
    }
  }

  Dataflow run() {
    for (step_ = 0; step_ < s_.steps; ++step_) {
      first_ = static_cast<int>(flow_.combines.size());
      open_.clear();
      pairs_.clear();
      s_.step(step_, [&](const Transfer& x) { add(x); });
      close();
    }
    return std::move(flow_);
  }

 private:
  std::vector<int>& life(int rank, int chunk) {
    return flow_.life[static_cast<std::size_t>(rank) * static_cast<std::size_t>(s_.chunks) +
                      static_cast<std::size_t>(chunk)];
  }
  Version& version(int v) { return flow_.versions[static_cast<std::size_t>(v)]; }

  /// The combine of this step that writes (rank, chunk).
  Combine& combine_into(int rank, int chunk) {
    const auto next = static_cast<int>(flow_.combines.size());
    const auto [at, fresh] = open_.try_emplace({rank, chunk}, next);
    if (fresh)
      flow_.combines.push_back(
          {.step = step_, .rank = rank, .chunk = chunk, .sources = {}, .edges = {}});
    return flow_.combines[static_cast<std::size_t>(at->second)];
  }

  void add(const Transfer& x) {
    require_in_range(s_, step_, x);
    const int messages = x.src != x.dst && pairs_.insert({x.src, x.dst}).second ? 1 : 0;
    if (x.verb == Verb::signal) {
      combine_into(x.dst, -1).edges.push_back({x.src, x.dst, messages});
      return;
    }
    for (int i = 0; i < x.count; ++i) {
      Combine& into = combine_into(x.dst, x.dst_chunk + i);
      if (x.verb == Verb::copy) into.sources.clear();  // replaces what was there
      if (x.verb == Verb::copy) into.edges.clear();
      into.sources.push_back(life(x.src, x.src_chunk + i).back());
      replaced_[static_cast<std::size_t>(&into - flow_.combines.data())] |= x.verb == Verb::copy;
      if (x.src != x.dst) into.edges.push_back({x.src, x.dst, i == 0 ? messages : 0});
    }
  }

  /// Ends the step: own values take their place in the order, new versions come into being.
  void close() {
    for (std::size_t i = static_cast<std::size_t>(first_); i < flow_.combines.size(); ++i) {
      Combine& c = flow_.combines[i];
      if (c.chunk < 0) continue;
      const int own = life(c.rank, c.chunk).back();
      const bool listed = std::find(c.sources.begin(), c.sources.end(), own) != c.sources.end();
      if (!listed && !replaced_[i]) c.sources.insert(c.sources.begin(), own);
      for (const int v : c.sources) version(v).readers.push_back(static_cast<int>(i));
    }
    for (std::size_t i = static_cast<std::size_t>(first_); i < flow_.combines.size(); ++i) {
      Combine& c = flow_.combines[i];
      if (c.chunk < 0) continue;
      Version& old = version(life(c.rank, c.chunk).back());
      for (const int reader : old.readers)
        old.contested |= reader >= first_ && reader != static_cast<int>(i);
      c.made = static_cast<int>(flow_.versions.size());
      life(c.rank, c.chunk).push_back(c.made);
      flow_.versions.push_back(
          {.rank = c.rank, .chunk = c.chunk, .made_by = static_cast<int>(i), .readers = {}});
    }
  }

  const Schedule& s_;
  Dataflow flow_;
  int step_ = 0;
  int first_ = 0;                            // first combine of this step
  std::map<std::pair<int, int>, int> open_;  // (rank, chunk) -> combine of this step
  std::set<std::pair<int, int>> pairs_;      // pairs that already have their message in this step
  std::unordered_map<std::size_t, bool> replaced_;  // combine -> a copy replaced the own value
};

}  // namespace

void require_in_range(const Schedule& s, int step, const Transfer& x) {
  const auto rank_ok = [&](int r) { return r >= 0 && r < s.ranks; };
  const auto chunk_ok = [&](int c) { return c >= 0 && c <= s.chunks - x.count; };
  if (x.count >= 0 && rank_ok(x.src) && rank_ok(x.dst) && chunk_ok(x.src_chunk) &&
      chunk_ok(x.dst_chunk))
    return;
  throw Error(
      ErrorKind::usage,
      fmt::format(
          "step {}: transfer from rank {} chunk {} to rank {} chunk {} ({} chunks) leaves the "
          "schedule's {} ranks and {} chunks",
          step, x.src, x.src_chunk, x.dst, x.dst_chunk, x.count, s.ranks, s.chunks));
}

Dataflow dataflow(const Schedule& s) { return Walk(s).run(); }

}  // namespace collmark
