/// Which pages the kernel really gave: huge ones can be asked for, and refused.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace collmark {

using Buffers = std::vector<std::span<const std::byte>>;

/// "huge": as many huge pages as fit wholly into the buffers; "small": none; "mixed": some. Empty if
/// the buffers are, or if the kernel does not say. It counts by mapping, which neighbours may share.
[[nodiscard]] std::string pages_under(const Buffers& buffers);

/// The same from a text like that of /proc/self/smaps.
[[nodiscard]] std::string pages_under(const Buffers& buffers, std::string_view smaps);

}  // namespace collmark
