/// Strong types for what is easily mixed up: bytes, elements and seconds.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>

namespace collmark {

using Seconds = std::chrono::duration<double>;

/// A count of one unit. Adds and compares with its own kind only; `.value` is the bare number.
template <class Unit>
struct Quantity {
  std::int64_t value = 0;

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  constexpr Quantity& operator+=(Quantity other) { return value += other.value, *this; }
  constexpr Quantity& operator-=(Quantity other) { return value -= other.value, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) { return {a.value * n}; }
  friend constexpr Quantity operator*(std::int64_t n, Quantity a) { return {a.value * n}; }
};

using Bytes = Quantity<struct ByteUnit>;
using Elements = Quantity<struct ElementUnit>;

constexpr std::optional<double> in_ns(const std::optional<Seconds>& time) {
  return time ? std::optional(time->count() * 1e9) : std::nullopt;
}

}  // namespace collmark
