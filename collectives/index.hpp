/// Counts are signed, as arithmetic on them is; positions in the standard library's containers are not.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace collmark {

/// `i` is not negative.
constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

template <std::integral N>
constexpr N rounded_up(N n, std::type_identity_t<N> unit) {
  return (n + unit - 1) / unit * unit;
}

}  // namespace collmark
