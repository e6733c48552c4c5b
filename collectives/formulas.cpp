/// The formulas of the all-reduces.
#include "collectives/formulas.hpp"

#include <algorithm>

namespace collmark::formulas {

std::int64_t Case::run(int pieces, int first, int n) const {
  const auto offset =
      [&](std::int64_t i) {  // [elements], on an endless row of copies of the buffer
        const std::int64_t whole = i / pieces, rest = i % pieces;
        return whole * count + rest * (count / pieces) + std::min(rest, count % pieces);
      };
  return (offset(first + n) - offset(first)) * element;
}

Seconds Case::time(double messages, std::int64_t bytes, std::int64_t reduced) const {
  return messages * link.alpha + Seconds(link.beta * static_cast<double>(bytes)) +
         Seconds(link.gamma * static_cast<double>(reduced));
}

std::optional<ClosedForm> parameter_server(const Case& c) {
  const std::int64_t all = (c.P - 1) * c.K();
  return ClosedForm{.steps = 2,
                    .busiest = {all},
                    .busiest_reduced = {all},
                    .busiest_messages = c.P - 1,
                    .time = c.time(2 * (c.P - 1), 2 * all, all)};
}

std::optional<ClosedForm> parameter_server_dedicated(const Case& c) {
  const std::int64_t all = (c.P - 1) * c.K(), added = (c.P - 2) * c.K();
  return ClosedForm{.steps = 2,
                    .busiest = {all},
                    .busiest_reduced = {added},
                    .busiest_messages = c.P - 1,
                    .time = c.time(2 * (c.P - 1), 2 * all, added)};
}

std::optional<ClosedForm> sharded_parameter_server(const Case& c) {
  const int k = c.number(), workers = c.P - k;
  if (workers < 1) return std::nullopt;
  const std::int64_t shard = c.piece(k), added = (workers - 1) * shard;
  const Seconds worker = c.time(k, c.K(), 0), server = c.time(workers, workers * shard, 0);
  return ClosedForm{.steps = 2,
                    .busiest = {std::max(c.K(), workers * shard)},
                    .busiest_reduced = {added},
                    .busiest_messages = std::max(k, workers),
                    .time = 2 * std::max(worker, server) + c.time(0, 0, added)};
}

std::optional<ClosedForm> binomial_tree(const Case& c) {
  const std::int64_t root = c.L() * c.K();
  return ClosedForm{.steps = 2 * c.L(),
                    .busiest = {root},
                    .busiest_reduced = {root},
                    .busiest_messages = c.L(),
                    .time = c.time(2 * c.L(), 2 * root, root)};
}

// An inner rank sends K up and 2K down; it takes five ranks for one that is not the root to have
// two children, and three for the root.
std::optional<ClosedForm> pipelined_tree(const Case& c) {
  const int s = c.number(), children = std::min(2, c.P - 1), sent = c.P >= 5 ? 3 : children;
  const int steps = 4 * c.L() + 4 * s;
  const std::int64_t segment = c.piece(s);
  return ClosedForm{.steps = steps,
                    .steps_at_most = true,
                    .busiest = {sent * c.K()},
                    .busiest_reduced = {children * c.K()},
                    .busiest_messages = sent * s,
                    .time = c.time(steps, steps * segment, 2 * (c.L() + s) * segment),
                    .time_at_most = true};
}

// An inner rank of the first tree sends its half A up once and down twice, and as a leaf of the
// second tree the other half B up. From four ranks on there is one that is not the root.
std::optional<ClosedForm> double_binary_tree(const Case& c) {
  const int s = c.number(), children = std::min(2, c.P - 1), halves = c.P >= 4 ? 3 : children;
  const int steps = 4 * c.L() + 4 * s;
  const std::int64_t A = c.run(2 * s, 0, s), B = c.K() - A, segment = c.piece(2 * s);
  return ClosedForm{.steps = steps,
                    .steps_at_most = true,
                    .busiest = {halves * A + B},
                    .busiest_reduced = {children * A},
                    .busiest_messages = (halves + 1) * s,
                    .time = c.time(steps, steps * segment, 2 * (c.L() + s) * segment),
                    .time_at_most = true};
}

// Of the pieces, rank r sends all but r, then all but r+1.
std::optional<ClosedForm> ring(const Case& c) {
  std::int64_t busiest = 0;
  for (int r = 0; r < c.P; ++r) busiest = std::max(busiest, 2 * c.K() - c.run(c.P, r, 2));
  const std::int64_t smallest = c.run(c.P, c.P - 1, 1), around = (c.P - 1) * c.piece(c.P);
  return ClosedForm{.steps = 2 * (c.P - 1),
                    .busiest = {busiest},
                    .busiest_reduced = {c.K() - smallest},
                    .busiest_messages = 2 * (c.P - 1),
                    .time = c.time(2 * (c.P - 1), 2 * around, around)};
}

std::optional<ClosedForm> recursive_doubling(const Case& c) {
  const int l = c.l(), fold = c.P == 1 << l ? 0 : 1;
  return ClosedForm{.steps = l + 2 * fold,
                    .busiest = {(l + fold) * c.K()},
                    .busiest_reduced = {(l + fold) * c.K()},
                    .busiest_messages = l + fold,
                    .time = c.time(l + 2 * fold, (l + 2 * fold) * c.K(), (l + fold) * c.K())};
}

// Q = 2^l pieces. While halving, a rank sends all pieces but its own and receives the runs of Q/2,
// Q/4, ... 1 pieces in which its own lies; while doubling the other way round. Rank 0's are the
// longest, and rank 0 has a partner to fold with if anyone has.
std::optional<ClosedForm> rabenseifner(const Case& c) {
  const int l = c.l(), Q = 1 << l, fold = c.P > Q ? 1 : 0;
  std::int64_t runs = 0;
  for (int n = Q / 2; n > 0; n /= 2) runs += c.run(Q, 0, n);
  const std::int64_t folded = fold * c.K();
  return ClosedForm{.steps = 2 * l + 2 * fold,
                    .busiest = {c.K() - c.piece(Q) + runs + folded},
                    .busiest_reduced = {runs + folded},
                    .busiest_messages = 2 * l + fold,
                    .time = c.time(2 * (l + fold), 2 * (runs + folded), runs + folded)};
}

std::optional<ClosedForm> swing(const Case& c) {
  if (c.P != 1 << c.l()) return std::nullopt;
  return rabenseifner(c);
}

// Round t halves the width ceil(P/2^t) of the run that a rank still answers for, rounded up: it
// sends the n pieces from r + skip on, and receives the n from r on.
std::optional<ClosedForm> circulant(const Case& c) {
  std::int64_t busiest = 0, reduced = 0;
  for (int r = 0; r < c.P; ++r) {
    std::int64_t sent = 0, received = 0;
    for (int width = c.P; width > 1; width = (width + 1) / 2) {
      const int skip = (width + 1) / 2, n = width - skip;
      sent += c.run(c.P, r + skip, n);
      received += c.run(c.P, r, n);
    }
    busiest = std::max(busiest, sent + received);
    reduced = std::max(reduced, received);
  }
  std::int64_t longest = 0;
  for (int width = c.P; width > 1; width = (width + 1) / 2) longest += c.run(c.P, 0, width / 2);
  return ClosedForm{.steps = 2 * c.L(),
                    .busiest = {busiest},
                    .busiest_reduced = {reduced},
                    .busiest_messages = 2 * c.L(),
                    .time = c.time(2 * c.L(), 2 * longest, longest)};
}

std::optional<ClosedForm> one_shot(const Case& c) {
  const std::int64_t all = (c.P - 1) * c.K();
  return ClosedForm{.steps = 1,
                    .busiest = {all},
                    .busiest_reduced = {all},
                    .busiest_messages = c.P - 1,
                    .time = c.time(c.P - 1, all, all)};
}

// Rank r exchanges its own piece with P-1 others, and the others' pieces once.
std::optional<ClosedForm> two_shot(const Case& c) {
  const std::int64_t largest = c.piece(c.P), own = (c.P - 1) * largest;
  return ClosedForm{.steps = 2,
                    .busiest = {own + c.K() - largest},
                    .busiest_reduced = {own},
                    .busiest_messages = 2 * (c.P - 1),
                    .time = c.time(2 * (c.P - 1), 2 * own, own)};
}

// Local rank i of node v: a ring of n parts inside, twice halved; a ring of m pieces of part i
// between the nodes.
std::optional<ClosedForm> hierarchical_ring(const Case& c) {
  const int m = c.numbers.at(0), n = c.numbers.at(1);
  if (m * n != c.P) return std::nullopt;
  const auto part = [&](int i) { return c.run(c.P, mod(i, n) * m, m); };
  const auto piece = [&](int i, int v) { return c.run(c.P, i * m + mod(v, m), 1); };
  std::int64_t busiest = 0, reduced = 0;
  for (int i = 0; i < n; ++i)
    for (int v = 0; v < m; ++v) {
      const std::int64_t inside = 2 * c.K() - part(i) - part(i - 1);
      const std::int64_t across = 2 * part(i) - piece(i, v) - piece(i, v + 1);
      busiest = std::max(busiest, inside + across);
      reduced = std::max(reduced, c.K() - part(i - 1) + part(i) - piece(i, v - 1));
    }
  const int steps = 2 * (n - 1) + 2 * (m - 1);
  const std::int64_t around = (n - 1) * part(0) + (m - 1) * c.piece(c.P);
  return ClosedForm{.steps = steps,
                    .busiest = {busiest},
                    .busiest_reduced = {reduced},
                    .busiest_messages = steps,
                    .time = c.time(steps, 2 * around, around)};
}

}  // namespace collmark::formulas
