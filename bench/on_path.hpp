/// Where programs are.
#pragma once

#include <string>
#include <string_view>

namespace collmark {

/// Full path of a program as a shell would find it, or empty.
[[nodiscard]] std::string on_path(std::string_view program);

}  // namespace collmark
