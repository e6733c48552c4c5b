/// Every single-transfer mutant of every algorithm, against an oracle that is no part of verify.
///
/// The oracle computes with numbers: every (rank, chunk) starts with a random 64-bit word, sums
/// wrap around, and a mutant is wrong exactly if some owed word differs from the unharmed
/// schedule's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "collectives/catalogue.hpp"
#include "collectives/promise.hpp"
#include "collectives/verify.hpp"

namespace collmark {
namespace {

using Steps = std::vector<std::vector<Transfer>>;

Steps listed(const Schedule& s) {
  Steps steps;
  for (int t = 0; t < s.steps; ++t) steps.push_back(transfers(s, t));
  return steps;
}

/// `shape` with other transfers. Borrows them.
Schedule walking(Schedule shape, const Steps& steps) {
  shape.steps = static_cast<int>(steps.size());
  shape.traffic = {};
  shape.step = [&steps](int t, Emit emit) {
    for (const Transfer& x : steps[static_cast<std::size_t>(t)]) emit(x);
  };
  return shape;
}

// --- the oracle ---

struct LintCounts {
  int write_write = 0, redundant_copy = 0, unused_write = 0;
  friend bool operator==(const LintCounts&, const LintCounts&) = default;
  LintCounts& operator+=(const LintCounts& o) {
    write_write += o.write_write;
    redundant_copy += o.redundant_copy;
    unused_write += o.unused_write;
    return *this;
  }
};

class Oracle {
 public:
  using Word = std::uint64_t;

  explicit Oracle(const Schedule& shape)
      : shape_(shape), cells_(static_cast<std::size_t>(shape.ranks * shape.chunks)) {
    std::mt19937_64 random(2026);
    for (std::size_t i = 0; i < cells_; ++i) start_.push_back(random());
    if (shape.collective == Collective::barrier)  // words are sets of ranks
      for (std::size_t i = 0; i < cells_; ++i) start_[i] = Word{1} << i;
    for (int r = 0; r < shape.ranks; ++r)
      for (int c = 0; c < shape.chunks; ++c)
        owed_.push_back(owed_after(shape, r, c).what != Owed::What::nothing);
  }

  struct Outcome {
    std::vector<Word> owed;  // 0 where nothing is owed
    LintCounts lints;
  };

  Outcome run(const Steps& steps) const {
    if (shape_.collective == Collective::barrier) return {spread(steps), {}};
    Outcome out{.owed = start_, .lints = {}};
    for (const auto& step : steps) add_up(step, out);
    out.lints.unused_write = unused_writes(steps);
    for (std::size_t i = 0; i < cells_; ++i)
      if (!owed_[i]) out.owed[i] = 0;
    return out;
  }

 private:
  /// What one step does to one cell.
  struct Sum {
    Word total = 0;
    int parts = 0;
    bool keeps_own = true;
  };

  std::size_t cell(int rank, int chunk) const {
    return static_cast<std::size_t>(rank * shape_.chunks + chunk);
  }

  template <class Visit>  // visit(source cell, destination cell, verb)
  void each_chunk(const std::vector<Transfer>& step, Visit visit) const {
    for (const Transfer& x : step)
      for (int i = 0; i < x.count; ++i)
        visit(cell(x.src, x.src_chunk + i), cell(x.dst, x.dst_chunk + i), x.verb);
  }

  void add_up(const std::vector<Transfer>& step, Outcome& out) const {
    std::map<std::size_t, Sum> sums;
    each_chunk(step, [&](std::size_t from, std::size_t to, Verb verb) {
      Sum& sum = sums[to];
      if (verb == Verb::copy) {
        if (sum.parts > 0) ++out.lints.write_write;
        sum = {.total = 0, .parts = 0, .keeps_own = false};
      } else if (from == to) {
        sum.keeps_own = false;  // it is in the list
      }
      sum.total += out.owed[from];
      ++sum.parts;
    });
    std::map<std::size_t, Sum> copied = only_copied(step, sums);
    std::vector<Word> after = out.owed;
    for (const auto& [to, sum] : sums) after[to] = sum.total + (sum.keeps_own ? out.owed[to] : 0);
    for (const auto& [to, sum] : copied)
      if (sum.total == out.owed[to]) ++out.lints.redundant_copy;
    out.owed = after;
  }

  /// Cells that end the step with the value of one copy and nothing else.
  std::map<std::size_t, Sum> only_copied(const std::vector<Transfer>& step,
                                         std::map<std::size_t, Sum> sums) const {
    std::map<std::size_t, Verb> last;
    each_chunk(step, [&](std::size_t, std::size_t to, Verb verb) { last[to] = verb; });
    std::erase_if(sums, [&](const auto& s) { return last[s.first] != Verb::copy; });
    return sums;
  }

  /// Backwards: a cell is alive if its value is read later, or owed.
  int unused_writes(const Steps& steps) const {
    int unused = 0;
    std::vector<bool> alive = owed_;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      std::map<std::size_t, bool> keeps_own;
      each_chunk(*step, [&](std::size_t, std::size_t to, Verb verb) {
        keeps_own[to] = verb != Verb::copy && (!keeps_own.contains(to) || keeps_own[to]);
      });
      for (const auto& [to, keeps] : keeps_own) {
        if (!alive[to]) ++unused;
        alive[to] = keeps;
      }
      each_chunk(*step, [&](std::size_t from, std::size_t, Verb) { alive[from] = true; });
    }
    return unused;
  }

  std::vector<Word> spread(const Steps& steps) const {
    std::vector<Word> heard = start_;
    for (const auto& step : steps) {
      std::vector<Word> after = heard;
      for (const Transfer& x : step) after[cell(x.dst, 0)] |= heard[cell(x.src, 0)];
      heard = after;
    }
    return heard;
  }

  const Schedule& shape_;
  std::size_t cells_;
  std::vector<Word> start_;  // [rank][chunk]
  std::vector<bool> owed_;
};

// --- the mutants ---

template <class Visit>
void each_mutant_of(const Steps& steps, std::size_t t, std::size_t i, Visit visit) {
  Steps mutant = steps;
  mutant[t].erase(mutant[t].begin() + static_cast<std::ptrdiff_t>(i));
  visit("dropped", mutant);
  if (t + 1 == mutant.size()) mutant.emplace_back();
  mutant[t + 1].push_back(steps[t][i]);
  visit("a step later", mutant);
  mutant = steps;
  mutant[t].insert(mutant[t].begin() + static_cast<std::ptrdiff_t>(i), steps[t][i]);
  visit("doubled", mutant);
}

/// Every other rank and every other chunk in the place of each that the transfer names.
template <class Visit>
void each_renamed(const Schedule& shape, const Transfer& x, Visit visit) {
  for (int rank = 0; rank < shape.ranks; ++rank) {
    Transfer other = x;
    other.src = rank;
    if (rank != x.src) visit("other source", other);
    other = x;
    other.dst = rank;
    if (rank != x.dst) visit("other destination", other);
  }
  if (x.verb == Verb::signal) return;
  for (int chunk = 0; chunk + x.count <= shape.chunks; ++chunk) {
    Transfer other = x;
    other.src_chunk = chunk;
    if (chunk != x.src_chunk) visit("other source chunk", other);
    other.dst_chunk = chunk;
    if (chunk != x.src_chunk && chunk != x.dst_chunk) visit("both chunks", other);
    other.src_chunk = x.src_chunk;
    if (chunk != x.dst_chunk) visit("other destination chunk", other);
  }
}

template <class Visit>
void each_mutant(const Schedule& shape, Visit visit) {
  const Steps steps = listed(shape);
  for (std::size_t t = 0; t < steps.size(); ++t)
    for (std::size_t i = 0; i < steps[t].size(); ++i) {
      each_mutant_of(steps, t, i, visit);
      Steps mutant = steps;
      each_renamed(shape, steps[t][i], [&](const char* kind, const Transfer& x) {
        mutant[t][i] = x;
        visit(kind, mutant);
      });
    }
}

// --- both answers ---

struct Tally {
  int mutants = 0, rejected = 0, equivalent = 0;
  LintCounts lints = {};
};

LintCounts count(const std::vector<Lint>& lints) {
  LintCounts n;
  for (const Lint& l : lints) {
    if (l.kind == Lint::Kind::write_write) ++n.write_write;
    if (l.kind == Lint::Kind::redundant_copy) ++n.redundant_copy;
    if (l.kind == Lint::Kind::unused_write) ++n.unused_write;
  }
  return n;
}

std::string text(const Steps& steps) {
  std::string all;
  for (std::size_t t = 0; t < steps.size(); ++t)
    for (const Transfer& x : steps[t])
      all += fmt::format("  step {}: {} {}[{}] -> {}[{}] x{}\n", t, static_cast<int>(x.verb), x.src,
                         x.src_chunk, x.dst, x.dst_chunk, x.count);
  return all;
}

/// Short pipelines: more segments only repeat the same mutants.
std::string short_name(const Algorithm& a) {
  return a.parameter.starts_with("segments") ? fmt::format("{}:2", a.name) : std::string(a.name);
}

using Tallies = std::map<std::string, Tally>;  // by kind of mutation

void judge(const Schedule& shape, Tallies& tallies) {
  const Oracle oracle(shape);
  const auto good = oracle.run(listed(shape)).owed;
  each_mutant(shape, [&](const char* kind, const Steps& mutant) {
    const Oracle::Outcome truth = oracle.run(mutant);
    const Verdict v = verify(walking(shape, mutant));
    Tally& tally = tallies[kind];
    ++tally.mutants;
    ++(truth.owed == good ? tally.equivalent : tally.rejected);
    tally.lints += truth.lints;
    ASSERT_EQ(v.ok(), truth.owed == good) << kind << "\n" << text(mutant);
    ASSERT_EQ(count(v.lints), truth.lints) << kind << "\n" << text(mutant);
    for (const CounterExample& e : v.wrong) {
      ASSERT_TRUE(e.rank >= 0 && e.rank < shape.ranks && e.chunk >= 0 && e.chunk < shape.chunks);
      ASSERT_FALSE(e.what.empty());
    }
  });
}

TEST(ScheduleMutants, EachThatChangesAResultIsRejected_EachThatDoesNotIsProved) {
  Tallies tallies;
  for (const Algorithm& a : catalogue())
    for (int p = 2; p <= 9; ++p) {
      SCOPED_TRACE(fmt::format("{} {} at {} ranks", name(a.collective), a.name, p));
      try {
        judge(build(a.collective, short_name(a), p), tallies);
      } catch (const Unsupported&) {
        continue;  // nothing to mutate
      }
      if (HasFatalFailure()) return;
    }

  fmt::print("{:<24}{:>9}{:>10}{:>12}{:>13}{:>16}{:>14}\n", "one transfer", "mutants", "rejected",
             "equivalent", "write-write", "redundant copy", "unused write");
  Tally all;
  for (const auto& [kind, n] : tallies) {
    fmt::print("{:<24}{:>9}{:>10}{:>12}{:>13}{:>16}{:>14}\n", kind, n.mutants, n.rejected,
               n.equivalent, n.lints.write_write, n.lints.redundant_copy, n.lints.unused_write);
    EXPECT_GT(n.rejected, 100) << kind;
    all.equivalent += n.equivalent;
    all.lints += n.lints;
  }
  EXPECT_EQ(tallies.size(), 8U);
  EXPECT_GT(all.equivalent, 100);
  EXPECT_GT(all.lints.write_write, 100);
  EXPECT_GT(all.lints.redundant_copy, 100);
  EXPECT_GT(all.lints.unused_write, 100);
}

}  // namespace
}  // namespace collmark
