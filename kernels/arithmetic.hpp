/// The arithmetic of a reduction on one element, on the GPU as on the CPU, with the bits that collectives/reduce.hpp
/// fixes: half precision through f32 and rounded at every operation, integers that wrap, IEEE 754-2019 minimum
/// and maximum, one NaN.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/platform.hpp"

namespace collmark {

/// The two 16-bit formats as memory holds them.
struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};

/// As ReduceOp, without avg: that adds, and divides what is complete.
enum class Operator : int { sum, prod, min, max };

/// What a value is computed in.
template <class T>
struct Wide {
  using type = T;
};
template <>
struct Wide<Half> {
  using type = float;
};
template <>
struct Wide<Brain> {
  using type = float;
};

COLLMARK_DEVICE float one_nan(float x) {
  return is_nan(x) ? from_bits(std::uint32_t{0x7fc00000}) : x;
}
COLLMARK_DEVICE double one_nan(double x) {
  return is_nan(x) ? from_bits(std::uint64_t{0x7ff8000000000000}) : x;
}
template <class I>
requires std::is_integral_v<I> COLLMARK_DEVICE I one_nan(I x) { return x; }

template <class T>
COLLMARK_DEVICE T widened(T x) {
  return x;
}
COLLMARK_DEVICE float widened(Half x) { return half_to_float(x.bits); }
COLLMARK_DEVICE float widened(Brain x) {
  return from_bits(static_cast<std::uint32_t>(x.bits) << 16);
}

/// To memory's format, to nearest even; the NaN of a half is 0x7e00, of a brain 0x7fc0.
template <class T>
COLLMARK_DEVICE T narrowed(typename Wide<T>::type x) {
  if constexpr (std::is_same_v<T, Half>) {
    return {is_nan(x) ? static_cast<std::uint16_t>(0x7e00) : float_to_half(x)};
  } else if constexpr (std::is_same_v<T, Brain>) {
    if (is_nan(x)) return {0x7fc0};
    const std::uint32_t bits = to_bits(x);
    // Half a unit of the last place that stays, less one if that is even already.
    return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
  } else {
    return x;
  }
}

/// Below 0, or -0.
COLLMARK_DEVICE bool has_sign(float x) { return (to_bits(x) >> 31) != 0; }
COLLMARK_DEVICE bool has_sign(double x) { return (to_bits(x) >> 63) != 0; }

template <class W>
COLLMARK_DEVICE W smaller(W a, W b) {
  if constexpr (std::is_floating_point_v<W>) {
    if (is_nan(a) || is_nan(b)) return one_nan(is_nan(a) ? a : b);
    if (a == b) return has_sign(a) ? a : b;
  }
  return b < a ? b : a;
}
template <class W>
COLLMARK_DEVICE W larger(W a, W b) {
  if constexpr (std::is_floating_point_v<W>) {
    if (is_nan(a) || is_nan(b)) return one_nan(is_nan(a) ? a : b);
    if (a == b) return has_sign(a) ? b : a;
  }
  return a < b ? b : a;
}

/// Integers wrap, which C++ allows the unsigned ones only.
template <class W, class Do>
COLLMARK_DEVICE W wrapping(W a, W b, Do compute) {
  if constexpr (std::is_floating_point_v<W>)
    return one_nan(compute(a, b));
  else
    return static_cast<W>(compute(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}

template <class T>
COLLMARK_DEVICE T combined(Operator op, T a, T b) {
  const auto x = widened(a), y = widened(b);
  switch (op) {
    case Operator::prod:
      return narrowed<T>(wrapping(x, y, [](auto u, auto v) { return u * v; }));
    case Operator::min:
      return narrowed<T>(smaller(x, y));
    case Operator::max:
      return narrowed<T>(larger(x, y));
    case Operator::sum:
      break;
  }
  return narrowed<T>(wrapping(x, y, [](auto u, auto v) { return u + v; }));
}

/// Calls `run` with the operator as a constant: what it does many times is chosen once.
template <class Run>
COLLMARK_DEVICE void by_operator(Operator op, Run run) {
  switch (op) {
    case Operator::sum:
      return run(std::integral_constant<Operator, Operator::sum>{});
    case Operator::prod:
      return run(std::integral_constant<Operator, Operator::prod>{});
    case Operator::min:
      return run(std::integral_constant<Operator, Operator::min>{});
    case Operator::max:
      return run(std::integral_constant<Operator, Operator::max>{});
  }
}

/// Rounded once; truncating on integers. One division in f32 (f64 for f64).
template <class T>
COLLMARK_DEVICE T divided(T a, int divisor) {
  using W = typename Wide<T>::type;
  if constexpr (std::is_floating_point_v<W>)
    return narrowed<T>(one_nan(quotient(widened(a), static_cast<W>(divisor))));
  else
    return static_cast<T>(static_cast<std::int64_t>(a) /
                          divisor);  // a u8 need not hold the divisor
}

}  // namespace collmark
