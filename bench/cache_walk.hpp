/// Empties a rank's caches by reading something else.
#pragma once

#include <cstddef>
#include <span>

namespace collmark {

/// Reads one byte of each cache line.
void walk(std::span<const std::byte> memory);

}  // namespace collmark
