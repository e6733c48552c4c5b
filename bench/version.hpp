/// The line that `--version` prints and every run record holds.
#pragma once

#include <string>

namespace collmark {

[[nodiscard]] std::string version_text();

}  // namespace collmark
