/// A wait of a block for a flag of a peer, as it is written down where it was in vain.
#pragma once

#include <cstdint>

namespace collmark {

/// What the flag says when it comes.
enum class Awaited : std::int32_t {
  data,      // a slot of a link is full
  credit,    // a slot of a link is free
  arrival,   // the peer has come to a meeting
  line,      // data that carry their flag have come, to an inbox
  progress,  // so many instructions of the peer's program are done
  message    // a hop is over
};

struct FlagWait {
  Awaited what = Awaited::data;
  std::int32_t rank = 0, peer = 0, channel = 0;
  std::int32_t step = 0;                  // of the schedule; negative: after the last
  std::uint32_t expected = 0, found = 0;  // of the flag: to go on, and at the last look
};

}  // namespace collmark
