/// How quiet this host is: said before a run, recorded with it, and a reason not to judge by it.
#pragma once

#include <optional>
#include <string>

#include "collectives/units.hpp"

namespace collmark {

struct Noise {
  double spread = 0.0;  // of a fixed piece of work: (95th percentile - minimum) / minimum
  double load = 0.0;    // runnable threads, 1-minute average
  std::optional<double> steal = {};  // share of time the hypervisor gave to others during the check
  std::string governor = {};  // of the first core's frequency; empty if the host does not say

  /// Why measurements taken now would mislead, one line; empty if nothing speaks against them.
  [[nodiscard]] std::string complaint(std::size_t cores) const;
};

/// Works for about 0.1 s.
[[nodiscard]] Noise check_noise();

}  // namespace collmark
