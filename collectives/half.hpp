/// The two 16-bit floating-point formats as plain integers, one value at a time.
///
///   f16    1 sign, 5 exponent, 10 mantissa bits    IEEE 754 binary16
///   bf16   1 sign, 8 exponent,  7 mantissa bits    the upper half of an f32
///
/// Written for reading, with the vectorised passes as its counterpart in the tests.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace collmark {

struct F16 {
  std::uint16_t bits = 0;
};
struct Bf16 {
  std::uint16_t bits = 0;
};

/// Exact: every f16 is an f32.
[[nodiscard]] inline float to_float(F16 h) {
  const int exponent = (h.bits >> 10) & 31;
  const int mantissa = h.bits & 1023;
  const float sign = (h.bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return mantissa != 0 ? std::bit_cast<float>(0x7fc00000U) : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
}

/// Nearest even; 65520 and above become infinity, every NaN becomes 0x7e00.
[[nodiscard]] inline F16 to_f16(float x) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  const auto with_sign = [&](int magnitude) {
    return F16{static_cast<std::uint16_t>(sign | magnitude)};
  };
  if (std::isnan(x)) return {0x7e00};
  const float magnitude = std::fabs(x);
  if (magnitude >= 65520.0F) return with_sign(0x7c00);
  if (magnitude == 0.0F) return with_sign(0);
  // In units of the last place that f16 keeps here: an integer below 2048, rounded to nearest even.
  const int exponent = std::max(std::ilogb(magnitude), -14);
  const int units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // Neighbouring values have neighbouring bits: a mantissa that runs over raises the exponent.
  return with_sign((exponent + 14) * 1024 + units);
}

[[nodiscard]] inline float to_float(Bf16 h) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(h.bits) << 16);
}

/// Nearest even; every NaN becomes 0x7fc0.
[[nodiscard]] inline Bf16 to_bf16(float x) {
  if (std::isnan(x)) return {0x7fc0};
  const auto bits = std::bit_cast<std::uint32_t>(x);
  std::uint32_t upper = bits >> 16;
  const std::uint32_t rest = bits & 0xffff;
  if (rest > 0x8000 || (rest == 0x8000 && upper % 2 == 1)) ++upper;
  return {static_cast<std::uint16_t>(upper)};
}

}  // namespace collmark
