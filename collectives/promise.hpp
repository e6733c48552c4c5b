/// What a collective owes: whose contribution each chunk of each rank holds before, and must hold
/// after.
#pragma once

#include <optional>

#include "collectives/schedule.hpp"

namespace collmark {

/// The input of `rank` in chunk `chunk`: the unit that verify follows through a schedule.
struct Contribution {
  int rank;
  int chunk;
  friend auto operator<=>(const Contribution&, const Contribution&) = default;
};

/// What chunk `chunk` of `rank` must hold at the end.
struct Owed {
  enum class What { nothing, one, every_contributor };
  What what = What::nothing;
  Contribution from = {0, 0};  // one: exactly this; every_contributor: this chunk of each, once
};

/// Before the first step; empty where the chunk holds no input (a dedicated server, all_gather's
/// other chunks).
///
///   all_reduce, reduce     chunk c of every contributing rank
///   reduce_scatter         the same
///   all_gather             chunks of rank r: [r C/p, (r+1) C/p) of C
///   broadcast              all chunks of the root
///   all_to_all             chunks [0, p): block d is meant for rank d
///   barrier                chunk 0: "rank r has arrived"; a message hands on all its sender knows
[[nodiscard]] std::optional<Contribution> held_before(const Schedule& s, int rank, int chunk);

///   all_reduce             every rank but servers: every contributor
///   reduce_scatter         rank r, its chunks [r C/p, (r+1) C/p): every contributor
///   reduce                 the root: every contributor
///   all_gather, broadcast  every rank: the one holder's chunk
///   all_to_all             rank r, chunk p + s: block r of rank s
///   barrier                every rank: every contributor
[[nodiscard]] Owed owed_after(const Schedule& s, int rank, int chunk);

}  // namespace collmark
