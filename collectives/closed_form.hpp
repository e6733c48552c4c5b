/// The closed formulas of the literature, as literals. This file and its source include no builder,
/// so that counting a schedule and evaluating its formula are two independent answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/cost.hpp"

namespace collmark {

struct ClosedForm {
  int steps = 0;
  bool steps_at_most = false;  // trees: the formula bounds the steps, it does not equal them
  Bytes busiest{};             // exact, with the real chunk sizes when K is not divisible
  Bytes busiest_reduced{};
  int busiest_messages = 0;  // sent; at most, where the steps are
  Seconds time{};
  bool time_at_most = false;
};

struct FormulaQuestion {
  Collective collective = Collective::all_reduce;
  std::string_view algorithm;     // base name, without parameter
  std::vector<int> numbers = {};  // its parameter, defaults filled in: see `resolve`
  int ranks = 1;
  Elements count{};
  Dtype dtype = Dtype::f32;
  LinkCost link = {};
};

/// Empty where the literature gives none (an author's own algorithm, a schedule from a file) and
/// where the algorithm cannot do these ranks. Throws Error{broken} if `numbers` are not filled in.
[[nodiscard]] std::optional<ClosedForm> closed_form(const FormulaQuestion& q);

/// "2K(P-1)/P" and "2(P-1)(a + Kb/P) + K(P-1)/P g" for tables and legends; empty if there is none.
struct FormulaText {
  std::string_view steps, busiest, reduced, time;
};
[[nodiscard]] std::optional<FormulaText> formula_text(Collective collective,
                                                      std::string_view algorithm);

/// What the letters beside P, K, a, b and g mean there: whole lines.
[[nodiscard]] std::string_view formula_legend();

/// busbw = algbw x factor: all_reduce 2(p-1)/p; reduce_scatter, all_gather, all_to_all (p-1)/p;
/// broadcast, reduce 1. Empty for a barrier and for p = 1.
[[nodiscard]] std::optional<double> bus_factor(Collective collective, int ranks);

}  // namespace collmark
