#include "kernels/hang.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kernels/wait_text.hpp"

namespace collmark {
namespace {

/// What the peer that is waited for waits for itself, on the same channel if it does there; null if for nothing.
const FlagWait* next_of(const FlagWait& wait, std::span<const Stuck> blocks) {
  const FlagWait* next = nullptr;
  for (const Stuck& s : blocks) {
    if (s.complete == 0 || s.wait.rank != wait.peer) continue;
    if (next == nullptr || (next->channel != wait.channel && s.wait.channel == wait.channel))
      next = &s.wait;
  }
  return next;
}

/// Flags of links count the slots that have passed, from 1.
std::string slot_of(const FlagWait& w, int slots) {
  if (w.what != Awaited::data && w.what != Awaited::credit) return "";
  return fmt::format(" {} slot {}", w.what == Awaited::data ? "in" : "for",
                     (w.expected - 1) % static_cast<std::uint32_t>(slots));
}

std::string words(const FlagWait& w, int slots) {
  return fmt::format("rank {} waited for {}", w.rank,
                     wait_text(w, fmt::format("{} on channel {}", slot_of(w, slots), w.channel)));
}

}  // namespace

std::string hang(std::span<const Stuck> blocks, int slots) {
  const auto first =
      std::find_if(blocks.begin(), blocks.end(), [](const Stuck& s) { return s.complete != 0; });
  if (first == blocks.end()) return "";
  std::vector<const FlagWait*> path;
  for (const FlagWait* w = &first->wait; w != nullptr; w = next_of(*w, blocks)) {
    const auto before = std::find(path.begin(), path.end(), w);
    if (before == path.end()) {
      path.push_back(w);
      continue;
    }
    std::string all;
    for (auto it = before; it != path.end(); ++it)
      all += (it == before ? "" : "; ") + words(**it, slots);
    return all;
  }
  return words(*path.back(), slots);
}

}  // namespace collmark
