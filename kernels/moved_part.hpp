/// What a kernel says of its own moves, to whoever watches it on the CPU.
#pragma once

#include <cstdint>

namespace collmark {

/// Elements that went from one rank to another, by their place in the buffers.
struct MovedPart {
  int src = 0, dst = 0;
  std::int64_t offset = 0, count = 0;
};

/// Elements that ranks gave each other in one operation, as their kernels moved them.
struct TransferCounts {
  unsigned long long* elements;  // [src x ranks + dst]; null: nobody counts
  int ranks;
};

}  // namespace collmark
