#include "bench/cache_walk.hpp"

namespace collmark {

void walk(std::span<const std::byte> memory) {
  constexpr std::size_t kStride = 64;  // [bytes]
  unsigned char seen = 0;
  for (std::size_t at = 0; at < memory.size(); at += kStride)
    seen = static_cast<unsigned char>(seen ^ std::to_integer<unsigned char>(memory[at]));
  volatile unsigned char kept = seen;  // so that the walk is not optimised away
  (void)kept;
}

}  // namespace collmark
