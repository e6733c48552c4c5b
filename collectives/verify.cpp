#include "collectives/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>

#include "collectives/contents.hpp"
#include "collectives/promise.hpp"

namespace collmark {
namespace {

/// The content of one chunk of one rank. Copies share it.
struct Value {
  Contents contents;
  std::shared_ptr<const CounterExample> spoilt = nullptr;  // where it became a sum that no later
};                                                         // reduce can put right
using Shared = std::shared_ptr<const Value>;

struct RankChunk {
  int rank;
  int chunk;
};

/// All writes of one step to one place, in list order.
struct Writes {
  RankChunk to;
  std::vector<Shared> values = {};  // to be added up
  bool own_named = false;           // the list says where the place's own value stands
  bool copied = false;              // a copy came: the own value stands only where it is named
};

std::optional<std::string> malformed(const Schedule& s) {
  if (s.ranks < 1) return fmt::format("the schedule has {} ranks", s.ranks);
  if (s.chunks < 1) return fmt::format("the schedule has {} chunks", s.chunks);
  if (s.steps < 0) return fmt::format("the schedule has {} steps", s.steps);
  if (s.steps > 0 && !s.step) return "the schedule has steps but nothing that walks them";
  if (s.root < 0 || s.root >= s.ranks)
    return fmt::format("root {} is not one of {} ranks", s.root, s.ranks);
  if (s.servers < 0 || s.servers >= s.ranks)
    return fmt::format("{} servers of {} ranks leave no worker", s.servers, s.ranks);
  if (s.collective == Collective::all_to_all && s.chunks != 2 * s.ranks)
    return fmt::format("all_to_all of {} ranks needs {} chunks, not {}", s.ranks, 2 * s.ranks,
                       s.chunks);
  return std::nullopt;
}

std::optional<std::string> malformed(const Schedule& s, const Transfer& x) {
  for (const int rank : {x.src, x.dst})
    if (rank < 0 || rank >= s.ranks)
      return fmt::format("a transfer names rank {} of {}", rank, s.ranks);
  if (x.verb == Verb::signal) {
    if (x.count != 0) return fmt::format("a signal carries {} chunks", x.count);
    return std::nullopt;
  }
  if (x.count < 1) return fmt::format("a transfer of {} chunks", x.count);
  for (const int first : {x.src_chunk, x.dst_chunk})
    if (first < 0 || first > s.chunks - x.count)
      return fmt::format("a transfer names chunks [{}, {}) of {}", first,
                         static_cast<long>(first) + x.count, s.chunks);
  return std::nullopt;
}

/// Walks a schedule with contributions in place of data.
class Proof {
 public:
  explicit Proof(const Schedule& s)
      : s_(s),
        every_contributor_(static_cast<std::size_t>(s.chunks)),
        cells_(static_cast<std::size_t>(s.ranks) * static_cast<std::size_t>(s.chunks)) {
    for (int rank = 0; rank < s.ranks; ++rank)
      for (int chunk = 0; chunk < s.chunks; ++chunk)
        cell({rank, chunk}).value = std::make_shared<Value>(Value{Contents({rank, chunk})});
  }

  Verdict run() && {
    for (int step = 0; step < s_.steps; ++step) {
      s_.step(step, [&](const Transfer& x) { take(step, x); });
      if (!verdict_.wrong.empty()) break;  // malformed: no use in going on
      apply(step);
    }
    if (verdict_.ok())
      for (int rank = 0; rank < s_.ranks; ++rank)
        for (int chunk = 0; chunk < s_.chunks; ++chunk) judge({rank, chunk});
    sort_and_cut();
    return std::move(verdict_);
  }

 private:
  struct Cell {
    Shared value;
    int last_write = -1;  // step
    bool read = true;     // since it was last written
    int writes = -1;      // of this step: index into writes_
  };

  Cell& cell(RankChunk at) {
    return cells_[static_cast<std::size_t>(at.rank) * static_cast<std::size_t>(s_.chunks) +
                  static_cast<std::size_t>(at.chunk)];
  }

  void take(int step, const Transfer& x) {
    if (const auto fault = malformed(s_, x)) {
      wrong({step, x.dst, x.dst_chunk, *fault});
    } else if (s_.collective == Collective::barrier) {
      take_chunk(step, {x.src, x.dst, 0, 0, Verb::reduce, 1});  // what the sender knows
    } else {
      for (int i = 0; i < x.count; ++i)
        take_chunk(step, {x.src, x.dst, x.src_chunk + i, x.dst_chunk + i, x.verb, 1});
    }
  }

  /// One chunk on its way: read now, written after the step.
  void take_chunk(int step, const Transfer& x) {
    const RankChunk to{x.dst, x.dst_chunk};
    Cell& source = cell({x.src, x.src_chunk});
    source.read = true;
    Writes& writes = writes_to(to);
    if (x.verb == Verb::copy) {
      if (!writes.values.empty())
        lint(Lint::Kind::write_write, step, to,
             fmt::format("a copy from rank {} overwrites what came in the same step", x.src));
      writes = {.to = to, .copied = true};
    } else if (x.src == x.dst && x.src_chunk == x.dst_chunk) {
      writes.own_named = true;
    }
    writes.values.push_back(source.value);
  }

  Writes& writes_to(RankChunk at) {
    Cell& c = cell(at);
    if (c.writes < 0) {
      c.writes = static_cast<int>(writes_.size());
      writes_.push_back({.to = at});
    }
    return writes_[static_cast<std::size_t>(c.writes)];
  }

  void apply(int step) {
    for (Writes& w : writes_) {
      Cell& c = cell(w.to);
      if (w.copied) {
        if (!c.read) unused(w.to, c.last_write, "is overwritten unread");
        if (w.values.size() == 1 && w.values[0]->contents == c.value->contents)
          lint(Lint::Kind::redundant_copy, step, w.to, "a copy brings what is already there");
      } else if (!w.own_named) {
        w.values.insert(w.values.begin(), c.value);
      }
      w.values = {sum(step, w)};
    }
    for (Writes& w : writes_) {
      Cell& c = cell(w.to);
      c = {.value = w.values[0], .last_write = step, .read = false};
    }
    writes_.clear();
  }

  Shared sum(int step, const Writes& w) {
    if (w.values.size() == 1) return w.values[0];
    Value total = *w.values[0];
    for (std::size_t i = 1; i < w.values.size(); ++i) {
      const Value& more = *w.values[i];
      if (!total.spoilt) total.spoilt = more.spoilt;
      if (s_.collective == Collective::barrier)
        total.contents.unite(more.contents);
      else
        total.contents += more.contents;
    }
    if (!total.spoilt)
      if (const auto fault = beyond_repair(total.contents))
        total.spoilt =
            std::make_shared<CounterExample>(CounterExample{step, w.to.rank, w.to.chunk, *fault});
    return std::make_shared<Value>(std::move(total));
  }

  /// Why a sum can be no part of any result, however the schedule goes on.
  std::optional<std::string> beyond_repair(const Contents& sum) {
    if (s_.collective == Collective::barrier) return std::nullopt;
    if (!reduces(s_.collective))
      return fmt::format("adds values up, which {} does not", name(s_.collective));
    if (const auto twice = sum.doubled())
      return fmt::format("holds the contribution of rank {} twice", twice->rank);
    if (const auto foreign = sum.first_outside(every_contributor(sum.first_chunk())))
      return foreign_text(*foreign);
    return std::nullopt;
  }

  std::string foreign_text(Contribution c) const {
    if (!held_before(s_, c.rank, c.chunk))
      return fmt::format("holds what rank {} had in chunk {}, which is no input", c.rank, c.chunk);
    return fmt::format("holds the contribution of rank {} to chunk {}, which is not owed here",
                       c.rank, c.chunk);
  }

  // What is owed, and whether it is there.

  const Contents& every_contributor(int chunk) {
    Contents& all = every_contributor_[static_cast<std::size_t>(chunk)];
    if (all.first_chunk() < 0)
      for (int rank = 0; rank < s_.ranks; ++rank)
        if (s_.contributes(rank)) all.add({rank, chunk});
    return all;
  }

  void judge(RankChunk at) {
    const Cell& c = cell(at);
    const Owed owed = owed_after(s_, at.rank, at.chunk);
    if (owed.what == Owed::What::nothing) {
      if (!c.read) unused(at, c.last_write, "is never read, nor owed");
    } else if (owed.what == Owed::What::one) {
      compare(at, Contents(owed.from));
    } else {
      compare(at, every_contributor(owed.from.chunk));
    }
  }

  void compare(RankChunk at, const Contents& owed) {
    const Cell& c = cell(at);
    const Contents& got = c.value->contents;
    if (got == owed) return;
    if (c.value->spoilt)
      wrong(*c.value->spoilt);
    else if (const auto foreign = got.first_outside(owed))
      wrong({c.last_write, at.rank, at.chunk, foreign_text(*foreign)});
    else if (const auto missing = owed.first_outside(got))
      wrong(
          {-1, at.rank, at.chunk, fmt::format("lacks the contribution of rank {}", missing->rank)});
  }

  void sort_and_cut() {
    const auto key = [](const CounterExample& e) {
      return std::tuple(e.step < 0, e.step, e.rank, e.chunk);
    };
    auto& list = verdict_.wrong;
    std::sort(list.begin(), list.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    list.erase(std::unique(list.begin(), list.end(),
                           [&](const auto& a, const auto& b) { return key(a) == key(b); }),
               list.end());
    list.resize(std::min(list.size(), kMostExamples));
  }

  void wrong(CounterExample e) { verdict_.wrong.push_back(std::move(e)); }
  void lint(Lint::Kind kind, int step, RankChunk at, std::string what) {
    verdict_.lints.push_back({kind, step, at.rank, at.chunk, std::move(what)});
  }
  void unused(RankChunk at, int step, const char* why) {
    if (s_.collective == Collective::barrier) return;
    lint(Lint::Kind::unused_write, step, at, fmt::format("what is written here {}", why));
  }

  const Schedule& s_;
  std::vector<Contents> every_contributor_;  // of each chunk, filled when first asked for
  std::vector<Cell> cells_;                  // [rank][chunk]
  std::vector<Writes> writes_;               // of the step being walked
  Verdict verdict_;
};

std::string place(int step, int rank, int chunk) {
  return fmt::format("{}, rank {}, chunk {}",
                     step < 0 ? "at the end" : fmt::format("step {}", step), rank, chunk);
}

}  // namespace

Verdict verify(const Schedule& s) {
  if (const auto fault = malformed(s)) return {.wrong = {{-1, -1, -1, *fault}}, .lints = {}};
  return Proof(s).run();
}

std::string to_string(const CounterExample& e) {
  if (e.rank < 0) return e.what;
  return fmt::format("{}: {}", place(e.step, e.rank, e.chunk), e.what);
}

std::string to_string(const Lint& lint) {
  return fmt::format("{}: {}", place(lint.step, lint.rank, lint.chunk), lint.what);
}

}  // namespace collmark
