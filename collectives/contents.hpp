/// What a chunk of a rank holds, as verify sees it: a multiset of contributions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "collectives/promise.hpp"

namespace collmark {

/// Kept as one set of ranks per chunk index, since almost every content is "chunk c of these ranks,
/// each once", and a list of what is there more than once.
class Contents {
 public:
  Contents() = default;
  explicit Contents(Contribution only) { add(only); }

  void add(Contribution c);
  /// The sum of both: what is in a and in b is there once more.
  Contents& operator+=(const Contents& other);
  /// Knowledge, not a sum: what is in a or in b is there once.
  void unite(const Contents& other);

  /// The lowest chunk index of which any rank's contribution is held; -1 if there is none.
  [[nodiscard]] int first_chunk() const { return held_.empty() ? -1 : held_.begin()->first; }
  /// The first one held more than once.
  [[nodiscard]] std::optional<Contribution> doubled() const;
  /// The first one that `expected` does not hold.
  [[nodiscard]] std::optional<Contribution> first_outside(const Contents& expected) const;

  friend bool operator==(const Contents&, const Contents&) = default;

 private:
  using Ranks = std::vector<std::uint64_t>;  // bit r: rank r; no empty word at the end

  std::map<int, Ranks> held_;          // chunk -> ranks that contributed it, once or more
  std::map<Contribution, int> extra_;  // times beyond the first
};

}  // namespace collmark
