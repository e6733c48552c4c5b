/// The closed formula of a case, from its algorithm as written on the command line.
#pragma once

#include <optional>

#include "bench/backend.hpp"
#include "collectives/closed_form.hpp"

namespace collmark {

/// Empty for a library, a schedule from a file, or where the literature gives none.
[[nodiscard]] std::optional<ClosedForm> closed_form_of(const Case& c, const LinkCost& link = {});

/// Alpha-beta-gamma time counted from the schedule; empty where there is no schedule for these
/// ranks.
[[nodiscard]] std::optional<Seconds> model_time(const Case& c, const LinkCost& link);

}  // namespace collmark
