/// "did you mean" for names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace collmark {

/// The candidate nearest to `text` by edit distance (a swap of neighbours counts once); empty if
/// none is near.
[[nodiscard]] std::string nearest(std::string_view text,
                                  const std::vector<std::string>& candidates);

/// " (did you mean 'ring'?)" or "" — to append to an error line.
[[nodiscard]] std::string did_you_mean(std::string_view text,
                                       const std::vector<std::string>& candidates);

}  // namespace collmark
