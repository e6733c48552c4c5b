/// How many channels, blocks of a rank, a kernel gets where nobody asks for a number.
#pragma once

#include "collectives/units.hpp"

namespace collmark {

/// What one device offers to the ranks on it.
struct Room {
  int blocks = 1;           // of the kernel, at once
  int multiprocessors = 1;  // more blocks of a rank than its share of them gain nothing
  int ranks = 1;            // that share the device
};

/// A multiple of `unit`, which is what the kernel rounds up to: a tree's channels work in twos, one couple for each tree.
/// As many as the buffer is worth and the device holds; `unit` if not even those fit, which whoever launches refuses.
[[nodiscard]] int channels_for(Bytes buffer, int unit, const Room& room);

}  // namespace collmark
