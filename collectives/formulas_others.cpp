/// The formulas of all other collectives.
#include <algorithm>

#include "collectives/formulas.hpp"

namespace collmark::formulas {
namespace {

/// An all-gather or broadcast moves what its reduce-scatter or reduce moves, and adds nothing.
struct OneWay {
  int steps;
  std::int64_t busiest;  // [bytes]
  std::int64_t reduced;  // [bytes]
  int messages;
  double path_messages;     // on the critical path
  std::int64_t path_bytes;  // all of which a reduce also adds up
};

ClosedForm adding(const Case& c, const OneWay& w) {
  return {.steps = w.steps,
          .busiest = {w.busiest},
          .busiest_reduced = {w.reduced},
          .busiest_messages = w.messages,
          .time = c.time(w.path_messages, w.path_bytes, w.path_bytes)};
}

ClosedForm copying(const Case& c, const OneWay& w) {
  return {.steps = w.steps,
          .busiest = {w.busiest},
          .busiest_messages = w.messages,
          .time = c.time(w.path_messages, w.path_bytes, 0)};
}

OneWay around_a_ring(const Case& c) {
  const std::int64_t all_but_smallest = c.K() - c.run(c.P, c.P - 1, 1);
  return {.steps = c.P - 1,
          .busiest = all_but_smallest,
          .reduced = all_but_smallest,
          .messages = c.P - 1,
          .path_messages = static_cast<double>(c.P - 1),
          .path_bytes = (c.P - 1) * c.piece(c.P)};
}

OneWay direct(const Case& c) {
  const std::int64_t own = (c.P - 1) * c.piece(c.P);
  return {.steps = 1,
          .busiest = own,
          .reduced = own,
          .messages = c.P - 1,
          .path_messages = static_cast<double>(c.P - 1),
          .path_bytes = own};
}

/// A rank receives the runs of P/2, P/4, ... 1 pieces in which its own lies; rank 0's are the
/// longest, and no shorter than all but one piece, which is what a rank sends.
std::optional<OneWay> halving(const Case& c) {
  if (c.P != 1 << c.l()) return std::nullopt;
  std::int64_t runs = 0;
  for (int n = c.P / 2; n > 0; n /= 2) runs += c.run(c.P, 0, n);
  return OneWay{.steps = c.l(),
                .busiest = runs,
                .reduced = runs,
                .messages = c.l(),
                .path_messages = static_cast<double>(c.l()),
                .path_bytes = runs};
}

OneWay binomial(const Case& c, int messages) {
  return {.steps = c.L(),
          .busiest = c.L() * c.K(),
          .reduced = c.L() * c.K(),
          .messages = messages,
          .path_messages = static_cast<double>(c.L()),
          .path_bytes = c.L() * c.K()};
}

/// In step t segments t-(P-2) to t are under way, as far as there are such; the first is the
/// largest.
OneWay chain(const Case& c) {
  const int s = c.number(), steps = c.P - 2 + s;
  std::int64_t path = 0;
  for (int t = 0; t < steps; ++t) path += c.run(s, std::max(0, t - (c.P - 2)), 1);
  return {.steps = steps,
          .busiest = c.K(),
          .reduced = c.K(),
          .messages = s,
          .path_messages = static_cast<double>(steps),
          .path_bytes = path};
}

OneWay star(const Case& c, int messages) {
  const std::int64_t root = (c.P - 1) * c.K();
  return {.steps = 1,
          .busiest = root,
          .reduced = root,
          .messages = messages,
          .path_messages = static_cast<double>(c.P - 1),
          .path_bytes = root};
}

}  // namespace

std::optional<ClosedForm> ring_reduce_scatter(const Case& c) { return adding(c, around_a_ring(c)); }
std::optional<ClosedForm> ring_all_gather(const Case& c) { return copying(c, around_a_ring(c)); }
std::optional<ClosedForm> direct_reduce_scatter(const Case& c) { return adding(c, direct(c)); }
std::optional<ClosedForm> direct_all_gather(const Case& c) { return copying(c, direct(c)); }

std::optional<ClosedForm> halving_reduce_scatter(const Case& c) {
  const auto way = halving(c);
  return way ? std::optional(adding(c, *way)) : std::nullopt;
}
std::optional<ClosedForm> doubling_all_gather(const Case& c) {
  const auto way = halving(c);
  return way ? std::optional(copying(c, *way)) : std::nullopt;
}

// A reducing rank sends once, the broadcasting root to each child.
std::optional<ClosedForm> binomial_reduce(const Case& c) { return adding(c, binomial(c, 1)); }
std::optional<ClosedForm> binomial_broadcast(const Case& c) {
  return copying(c, binomial(c, c.L()));
}
std::optional<ClosedForm> star_reduce(const Case& c) { return adding(c, star(c, 1)); }
std::optional<ClosedForm> star_broadcast(const Case& c) { return copying(c, star(c, c.P - 1)); }
std::optional<ClosedForm> chain_reduce(const Case& c) { return adding(c, chain(c)); }
std::optional<ClosedForm> chain_broadcast(const Case& c) { return copying(c, chain(c)); }

std::optional<ClosedForm> pairwise(const Case& c) {
  const std::int64_t sent = (c.P - 1) * (c.count / c.P) * c.element;  // equal blocks, rounded down
  return ClosedForm{.steps = c.P - 1,
                    .busiest = {sent},
                    .busiest_messages = c.P - 1,
                    .time = c.time(c.P - 1, sent, 0)};
}

std::optional<ClosedForm> dissemination(const Case& c) {
  return ClosedForm{.steps = c.L(), .busiest_messages = c.L(), .time = c.time(c.L(), 0, 0)};
}

}  // namespace collmark::formulas
