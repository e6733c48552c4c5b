/// Symbolic proof that a schedule does what its collective owes, for every size and dtype at once.
#pragma once

#include <string>
#include <vector>

#include "collectives/schedule.hpp"

namespace collmark {

/// Why a schedule is wrong, where it first shows.
struct CounterExample {
  int step = -1;  // the step that made it wrong; -1 if a contribution never arrived
  int rank = -1;
  int chunk = -1;
  std::string what;  // "holds the contribution of rank 2 twice", "lacks the contribution of rank 5"
};

/// Not wrong, but suspicious.
struct Lint {
  enum class Kind {
    write_write,     // a copy overwrites what an earlier transfer of the same step brought
    redundant_copy,  // a copy brings what is already there
    unused_write     // overwritten, or left at the end, without being read or owed
  };
  Kind kind;
  int step;
  int rank;
  int chunk;
  std::string what;
};

struct Verdict {
  std::vector<CounterExample> wrong;  // at most kMostExamples; empty = proved
  std::vector<Lint> lints;
  [[nodiscard]] bool ok() const { return wrong.empty(); }
};

inline constexpr std::size_t kMostExamples = 8;

/// Walks the schedule once. Memory: ranks x chunks x contributions.
/// A malformed transfer (rank or chunk out of range, negative count) is a counter-example, not a
/// crash.
[[nodiscard]] Verdict verify(const Schedule& s);

/// One line a person can read: "step 3, rank 1, chunk 0: holds the contribution of rank 2 twice".
[[nodiscard]] std::string to_string(const CounterExample& e);
[[nodiscard]] std::string to_string(const Lint& lint);

}  // namespace collmark
