#include "kernels/hang.hpp"

#include <algorithm>

namespace collmark {
namespace {

const Stuck* stuck_of(int rank, std::span<const Stuck> blocks) {
  const auto found = std::find_if(blocks.begin(), blocks.end(), [=](const Stuck& s) {
    return s.complete != 0 && s.rank == rank;
  });
  return found == blocks.end() ? nullptr : &*found;
}

}  // namespace

std::string hang(std::span<const Stuck> blocks) {
  const auto first =
      std::find_if(blocks.begin(), blocks.end(), [](const Stuck& s) { return s.complete != 0; });
  if (first == blocks.end()) return "";
  const Stuck* last = &*first;
  for (std::size_t hops = 0; hops < blocks.size(); ++hops) {  // a circle of waits ends here too
    const Stuck* const next = stuck_of(last->peer, blocks);
    if (next == nullptr) break;
    last = next;
  }
  return "rank " + std::to_string(last->rank) + " waited for rank " + std::to_string(last->peer) +
         " in step " + std::to_string(last->step);
}

}  // namespace collmark
