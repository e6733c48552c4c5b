/// Memory for micro-benchmarks: as the collectives' own, and written before anything is timed.
#pragma once

#include <cstddef>
#include <cstring>

#include "collectives/pages.hpp"

namespace collmark::micro {

/// `bytes` of `content`, on huge pages where the system has them; every page is touched.
[[nodiscard]] inline PageBuffer memory(std::size_t bytes, int content) {
  PageBuffer buffer(Bytes{static_cast<std::int64_t>(bytes)});
  std::memset(buffer.data(), content, bytes);
  return buffer;
}

}  // namespace collmark::micro
