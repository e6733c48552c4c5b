/// A schedule as a timeline for chrome://tracing or ui.perfetto.dev, timed by the alpha-beta model.
///
///   rank 0  |send c2 -> 1, add c1 <- 2|send ...    A row per rank, a box per rank and step, as
///                      \                           long as that rank's port is busy; an arrow
///   rank 1  |send c0 -> 2, add c2 <- 0|send ...    per message, from its start to its arrival.
///
/// Format: "Trace Event Format", Google, 2016: JSON object form; X, s, f, M events; microseconds.
#pragma once

#include <string>

#include "collectives/cost.hpp"
#include "collectives/schedule.hpp"

namespace collmark {

/// What is sent, and over which links.
struct TraceLoad {
  Elements count;
  Dtype dtype = Dtype::f32;
  LinkCost link = {};
};

/// A viewer chokes on more.
inline constexpr int kMostTraceMessages = 500'000;

/// Steps begin together, as the cost model has it: the last box ends at cost(...).time.
/// Throws Error{usage} if the schedule has more than kMostTraceMessages messages.
[[nodiscard]] std::string trace_json(const Schedule& s, const TraceLoad& load);

}  // namespace collmark
