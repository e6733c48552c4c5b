#include "collectives/closed_form.hpp"

#include <fmt/format.h>

#include "collectives/error.hpp"
#include "collectives/formulas.hpp"

namespace collmark {
namespace {

struct Entry {
  Collective collective;
  std::string_view algorithm;
  std::size_t numbers;  // how many parameters the formula takes
  formulas::Formula formula;
  FormulaText text;  // steps, busiest bytes, bytes reduced by the busiest, time
};

constexpr std::string_view kTwicePart = "2K(P-1)/P", kPart = "K(P-1)/P";

constexpr Entry kEntries[] = {
    {Collective::all_reduce,
     "parameter_server",
     0,
     formulas::parameter_server,
     {"2", "(P-1)K", "(P-1)K", "2(P-1)(a + Kb) + (P-1)Kg"}},
    {Collective::all_reduce,
     "parameter_server_dedicated",
     0,
     formulas::parameter_server_dedicated,
     {"2", "(P-1)K", "(P-2)K", "2(P-1)(a + Kb) + (P-2)Kg"}},
    {Collective::all_reduce,
     "sharded_parameter_server",
     1,
     formulas::sharded_parameter_server,
     {"2", "max(K, (P-k)K/k)", "(P-k-1)K/k", "2 max(k, P-k)(a + Kb/k) + (P-k-1)K/k g"}},
    {Collective::all_reduce,
     "binomial_tree",
     0,
     formulas::binomial_tree,
     {"2L", "LK", "LK", "2L(a + Kb) + LKg"}},
    {Collective::all_reduce,
     "pipelined_tree",
     1,
     formulas::pipelined_tree,
     {"<= 4L+4s", "3K (P >= 5), 2K (3, 4), K (2)", "2K (P >= 3), K (2)",
      "<= (4L+4s)(a + Kb/s) + (2L+2s)K/s g"}},
    {Collective::all_reduce,
     "double_binary_tree",
     1,
     formulas::double_binary_tree,
     {"<= 4L+4s", "2K (P >= 4), 1.5K (3), K (2)", "K (P >= 3), K/2 (2)",
      "<= (4L+4s)(a + Kb/2s) + (2L+2s)K/2s g"}},
    {Collective::all_reduce,
     "ring",
     0,
     formulas::ring,
     {"2(P-1)", kTwicePart, kPart, "2(P-1)(a + Kb/P) + K(P-1)/P g"}},
    {Collective::all_reduce,
     "recursive_doubling",
     0,
     formulas::recursive_doubling,
     {"l, folded l+2", "lK, folded (l+1)K", "lK, folded (l+1)K",
      "l(a + Kb + Kg), folded + 2a + 2Kb + Kg"}},
    {Collective::all_reduce,
     "rabenseifner",
     0,
     formulas::rabenseifner,
     {"2l, folded 2l+2", "2K(P-1)/P, folded K+2K(P'-1)/P'", "K(P-1)/P, folded K + K(P'-1)/P'",
      "2la + 2K(P-1)/P b + K(P-1)/P g, folded (P') + 2a + 2Kb + Kg"}},
    {Collective::all_reduce,
     "circulant",
     0,
     formulas::circulant,
     {"2L", kTwicePart, kPart, "2La + 2K(P-1)/P b + K(P-1)/P g"}},
    {Collective::all_reduce,
     "one_shot",
     0,
     formulas::one_shot,
     {"1", "(P-1)K", "(P-1)K", "(P-1)(a + Kb + Kg)"}},
    {Collective::all_reduce,
     "two_shot",
     0,
     formulas::two_shot,
     {"2", kTwicePart, kPart, "2(P-1)(a + Kb/P) + K(P-1)/P g"}},
    {Collective::all_reduce,
     "hierarchical_ring",
     2,
     formulas::hierarchical_ring,
     {"2(n-1) + 2(m-1)", kTwicePart, kPart,
      "2(n-1)a + 2(m-1)a' + 2K(n-1)/n b + 2K(m-1)/(mn) b' + K(P-1)/P g"}},
    {Collective::all_reduce,
     "swing",
     0,
     formulas::swing,
     {"2l", kTwicePart, kPart, "2la + X 2K(P-1)/P b + K(P-1)/P g"}},
    {Collective::reduce_scatter,
     "ring",
     0,
     formulas::ring_reduce_scatter,
     {"P-1", kPart, kPart, "(P-1)(a + Kb/P) + K(P-1)/P g"}},
    {Collective::reduce_scatter,
     "direct",
     0,
     formulas::direct_reduce_scatter,
     {"1", kPart, kPart, "(P-1)(a + Kb/P) + K(P-1)/P g"}},
    {Collective::reduce_scatter,
     "recursive_halving",
     0,
     formulas::halving_reduce_scatter,
     {"l", kPart, kPart, "la + K(P-1)/P b + K(P-1)/P g"}},
    {Collective::all_gather,
     "ring",
     0,
     formulas::ring_all_gather,
     {"P-1", kPart, "0", "(P-1)(a + Kb/P)"}},
    {Collective::all_gather,
     "direct",
     0,
     formulas::direct_all_gather,
     {"1", kPart, "0", "(P-1)(a + Kb/P)"}},
    {Collective::all_gather,
     "recursive_doubling",
     0,
     formulas::doubling_all_gather,
     {"l", kPart, "0", "la + K(P-1)/P b"}},
    {Collective::broadcast,
     "binomial",
     0,
     formulas::binomial_broadcast,
     {"L", "LK", "0", "L(a + Kb)"}},
    {Collective::broadcast,
     "chain",
     1,
     formulas::chain_broadcast,
     {"P-2+s", "K", "0", "(P-2+s)(a + Kb/s)"}},
    {Collective::broadcast,
     "star",
     0,
     formulas::star_broadcast,
     {"1", "(P-1)K", "0", "(P-1)(a + Kb)"}},
    {Collective::reduce,
     "binomial",
     0,
     formulas::binomial_reduce,
     {"L", "LK", "LK", "L(a + Kb + Kg)"}},
    {Collective::reduce,
     "chain",
     1,
     formulas::chain_reduce,
     {"P-2+s", "K", "K", "(P-2+s)(a + Kb/s + Kg/s)"}},
    {Collective::reduce,
     "star",
     0,
     formulas::star_reduce,
     {"1", "(P-1)K", "(P-1)K", "(P-1)(a + Kb + Kg)"}},
    {Collective::all_to_all,
     "pairwise",
     0,
     formulas::pairwise,
     {"P-1", kPart, "0", "(P-1)(a + Kb/P)"}},
    {Collective::barrier, "dissemination", 0, formulas::dissemination, {"L", "0", "0", "La"}},
};

const Entry* find(Collective collective, std::string_view algorithm) {
  for (const Entry& e : kEntries)
    if (e.collective == collective && e.algorithm == algorithm) return &e;
  return nullptr;
}

}  // namespace

std::optional<ClosedForm> closed_form(const FormulaQuestion& q) {
  const Entry* entry = find(q.collective, q.algorithm);
  if (entry == nullptr) return std::nullopt;
  if (q.numbers.size() != entry->numbers)
    throw Error(ErrorKind::broken, fmt::format("the formula of {} takes {} numbers, not {}",
                                               q.algorithm, entry->numbers, q.numbers.size()));
  if (q.ranks == 1)  // nothing moves; all_to_all still takes a step to reach its output buffer
    return ClosedForm{.steps = q.collective == Collective::all_to_all ? 1 : 0};
  return entry->formula({.P = q.ranks,
                         .count = q.count.value,
                         .element = static_cast<std::int64_t>(size_of(q.dtype)),
                         .numbers = q.numbers,
                         .link = q.link});
}

std::optional<FormulaText> formula_text(Collective collective, std::string_view algorithm) {
  const Entry* entry = find(collective, algorithm);
  return entry == nullptr ? std::nullopt : std::optional(entry->text);
}

std::string_view formula_legend() {
  return "L = ceil(log2 P), l = floor(log2 P), P' = 2^l; folded: where P is not P'. s segments,\n"
         "k servers, m nodes of n ranks; a', b': between nodes; X: factor of congestion, 1 for "
         "none.\n";
}

std::optional<double> bus_factor(Collective collective, int ranks) {
  if (ranks < 2 || collective == Collective::barrier) return std::nullopt;
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (collective) {
    case Collective::all_reduce:
      return 2 * others;
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::all_to_all:
      return others;
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::barrier:
      break;
  }
  return 1.0;
}

}  // namespace collmark
