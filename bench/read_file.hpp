/// The text of an input file.
#pragma once

#include <string>

namespace collmark {

/// Throws Error{usage} if it cannot be read: it is missing, a directory, or larger than any input
/// may be (/dev/zero).
[[nodiscard]] std::string read_file(const std::string& path);

}  // namespace collmark
