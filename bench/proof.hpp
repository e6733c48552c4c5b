/// Schedules that came from a file are proved before they are measured.
#pragma once

#include <string>
#include <string_view>

#include "collectives/schedule.hpp"

namespace collmark {

/// Why `s`, asked for as `algorithm`, does not compute what it owes; one line, empty if it does. The
/// catalogue has its own proofs. Looking at the data alone is not enough: max hides a contribution
/// that comes twice, a few elements hide the chunks that are empty, and a barrier has no data.
[[nodiscard]] std::string disproof(std::string_view algorithm, const Schedule& s);

}  // namespace collmark
