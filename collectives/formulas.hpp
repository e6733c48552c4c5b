/// One function per closed formula. K = bytes per rank, P = ranks, L = ceil(log2 P),
/// l = floor(log2 P); a, b, g = seconds per message, per byte, per byte reduced.
#pragma once

#include "collectives/closed_form.hpp"

namespace collmark::formulas {

/// What a formula is asked, in the letters of the literature.
struct Case {
  int P;
  std::int64_t count;    // [elements]
  std::int64_t element;  // [bytes]
  std::vector<int> numbers;
  LinkCost link;

  [[nodiscard]] std::int64_t K() const { return count * element; }  // [bytes]
  [[nodiscard]] int L() const { return ceil_log2(P); }
  [[nodiscard]] int l() const { return floor_log2(P); }
  [[nodiscard]] int number() const { return numbers.at(0); }

  /// The real size of cyclic run [first, first + n) of K cut into `pieces` [bytes]: the first
  /// (count mod pieces) of them are one element longer.
  [[nodiscard]] std::int64_t run(int pieces, int first, int n) const;
  /// K/pieces, the largest [bytes].
  [[nodiscard]] std::int64_t piece(int pieces) const { return run(pieces, 0, 1); }

  /// messages a + bytes b + reduced g
  [[nodiscard]] Seconds time(double messages, std::int64_t bytes, std::int64_t reduced) const;
};

using Formula = std::optional<ClosedForm> (*)(const Case& c);  // P >= 2

std::optional<ClosedForm> parameter_server(const Case& c);
std::optional<ClosedForm> parameter_server_dedicated(const Case& c);
std::optional<ClosedForm> sharded_parameter_server(const Case& c);
std::optional<ClosedForm> binomial_tree(const Case& c);
std::optional<ClosedForm> pipelined_tree(const Case& c);
std::optional<ClosedForm> double_binary_tree(const Case& c);
std::optional<ClosedForm> ring(const Case& c);
std::optional<ClosedForm> recursive_doubling(const Case& c);
std::optional<ClosedForm> rabenseifner(const Case& c);
std::optional<ClosedForm> circulant(const Case& c);
std::optional<ClosedForm> one_shot(const Case& c);
std::optional<ClosedForm> two_shot(const Case& c);
std::optional<ClosedForm> hierarchical_ring(const Case& c);
std::optional<ClosedForm> swing(const Case& c);

std::optional<ClosedForm> ring_reduce_scatter(const Case& c);
std::optional<ClosedForm> direct_reduce_scatter(const Case& c);
std::optional<ClosedForm> halving_reduce_scatter(const Case& c);
std::optional<ClosedForm> ring_all_gather(const Case& c);
std::optional<ClosedForm> direct_all_gather(const Case& c);
std::optional<ClosedForm> doubling_all_gather(const Case& c);
std::optional<ClosedForm> binomial_broadcast(const Case& c);
std::optional<ClosedForm> chain_broadcast(const Case& c);
std::optional<ClosedForm> star_broadcast(const Case& c);
std::optional<ClosedForm> binomial_reduce(const Case& c);
std::optional<ClosedForm> chain_reduce(const Case& c);
std::optional<ClosedForm> star_reduce(const Case& c);
std::optional<ClosedForm> pairwise(const Case& c);
std::optional<ClosedForm> dissemination(const Case& c);

}  // namespace collmark::formulas
