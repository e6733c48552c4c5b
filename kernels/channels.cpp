#include "kernels/channels.hpp"

#include <algorithm>

namespace collmark {
namespace {

// Guesses to start from, not measured on a GPU.
constexpr int kMostChannels = 64;
constexpr std::int64_t kChannelWorthHaving = 32 << 10;  // [bytes] of a buffer

}  // namespace

int channels_for(Bytes buffer, int unit, const Room& room) {
  const int holds = room.blocks / room.ranks;
  const int fair = std::max(1, room.multiprocessors / room.ranks);
  const int most = std::min({holds, fair, kMostChannels}) / unit * unit;
  const std::int64_t worth = (buffer.value / kChannelWorthHaving + unit - 1) / unit * unit;
  // A share of fewer multiprocessors than the unit is no reason to refuse what they hold.
  return static_cast<int>(std::clamp<std::int64_t>(worth, unit, std::max(unit, most)));
}

}  // namespace collmark
