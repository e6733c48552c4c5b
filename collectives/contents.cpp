#include "collectives/contents.hpp"

#include <algorithm>
#include <bit>

namespace collmark {
namespace {

constexpr int kWord = 64;         // ranks per word of a set
constexpr int kMany = 1'000'000;  // counts stop here: a sum that doubles at every step overflows

int capped_sum(int a, int b) { return std::min(a + b, kMany); }

std::uint64_t word(const std::vector<std::uint64_t>& set, std::size_t i) {
  return i < set.size() ? set[i] : 0;
}

template <class Visit>
void each_rank(std::size_t at, std::uint64_t bits, Visit visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<int>(at) * kWord + std::countr_zero(bits));
}

}  // namespace

void Contents::add(Contribution c) {
  Ranks& ranks = held_[c.chunk];
  const auto at = static_cast<std::size_t>(c.rank / kWord);
  const std::uint64_t bit = std::uint64_t{1} << (c.rank % kWord);
  if (at >= ranks.size()) ranks.resize(at + 1);
  if ((ranks[at] & bit) != 0) extra_[c] = capped_sum(extra_[c], 1);
  ranks[at] |= bit;
}

Contents& Contents::operator+=(const Contents& other) {
  for (const auto& [chunk, theirs] : other.held_) {
    const Ranks& ours = held_[chunk];
    for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
      each_rank(i, ours[i] & theirs[i], [&, chunk = chunk](int rank) {
        int& more = extra_[{rank, chunk}];
        more = capped_sum(more, 1);
      });
  }
  for (const auto& [contribution, times] : other.extra_) {
    int& more = extra_[contribution];
    more = capped_sum(more, times);
  }
  unite(other);
  return *this;
}

void Contents::unite(const Contents& other) {
  for (const auto& [chunk, theirs] : other.held_) {
    Ranks& ours = held_[chunk];
    ours.resize(std::max(ours.size(), theirs.size()));
    for (std::size_t i = 0; i < theirs.size(); ++i) ours[i] |= theirs[i];
  }
}

std::optional<Contribution> Contents::doubled() const {
  return extra_.empty() ? std::nullopt : std::optional(extra_.begin()->first);
}

std::optional<Contribution> Contents::first_outside(const Contents& expected) const {
  for (const auto& [chunk, ranks] : held_) {
    const auto theirs = expected.held_.find(chunk);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const std::uint64_t allowed = theirs == expected.held_.end() ? 0 : word(theirs->second, i);
      if (const std::uint64_t outside = ranks[i] & ~allowed; outside != 0)
        return Contribution{static_cast<int>(i) * kWord + std::countr_zero(outside), chunk};
    }
  }
  return std::nullopt;
}

}  // namespace collmark
