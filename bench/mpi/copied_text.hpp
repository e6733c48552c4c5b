/// Text in a form that ranks can exchange.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace collmark {

/// As much as there is room for. `to` was all zeros, and its last character still is.
template <std::size_t N>
void copy_text(std::string_view text, std::array<char, N>& to) {
  std::copy_n(text.begin(), std::min(text.size(), N - 1), to.begin());
}

}  // namespace collmark
