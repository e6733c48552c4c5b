/// How many ranks can have a core to themselves.
#pragma once

#include <vector>

namespace collmark {

/// The most ranks that run at once if each stays on cores that it may use: the largest matching of ranks to cores.
///   cores    [rank], those that each may run on, in any order
///   Source   Kuhn 1955, augmenting paths.
[[nodiscard]] int ranks_with_own_core(const std::vector<std::vector<int>>& cores);

}  // namespace collmark
