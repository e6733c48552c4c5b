/// What the pipelined trees share.
#pragma once

#include <functional>

#include "collectives/schedule.hpp"

namespace collmark {

/// All-reduce in s segments over any rooted tree: every segment is added up towards the root and,
/// as soon as it is complete there, sent back down while later segments still come up.
///   parent   of each of p ranks; the root's is -1
///   Shape    s chunks; 2h+s-1 steps for a tree of height h >= 1, none for a single rank.
///   Order    own value, then the children in rank order.
[[nodiscard]] Schedule pipelined_over_tree(int p, int s, const std::function<int(int)>& parent);

}  // namespace collmark
