/// What an executor is given for each rank, and what it tells about each rank afterwards.
#pragma once

#include <cstddef>

#include "collectives/units.hpp"

namespace collmark {

/// Where one rank's data lies; count elements each. input == output means in place.
struct RankBuffers {
  std::byte* input;
  std::byte* output;
};

/// Bytes and messages that one rank really moved in its last operation, counted at the move.
struct Moved {
  Bytes sent;
  Bytes received;
  int messages = 0;  // sent

  Moved& operator+=(const Moved& other) {
    sent += other.sent;
    received += other.received;
    messages += other.messages;
    return *this;
  }
};

}  // namespace collmark
