#include "collectives/scalar_reduce.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "collectives/error.hpp"
#include "collectives/half.hpp"

namespace collmark {
namespace {

template <class F>
constexpr bool kFloating = std::is_floating_point_v<F>;

template <class F>
F quiet(F x) {
  return std::isnan(x) ? std::numeric_limits<F>::quiet_NaN() : x;
}

/// IEEE 754-2019: NaN wins, -0 is less than +0.
template <class T>
T minimum(T a, T b) {
  if constexpr (kFloating<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? a : b;
  }
  return b < a ? b : a;
}

template <class T>
T maximum(T a, T b) {
  if constexpr (kFloating<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}

/// Adds or multiplies in the type itself; integers wrap, which C++ allows the unsigned ones only.
template <class T, class Do>
T arithmetic(T a, T b, Do&& compute) {
  if constexpr (kFloating<T>) {
    return quiet(compute(a, b));
  } else {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<T>(compute(x, y));
  }
}

template <class T>
T apply(ReduceOp op, T a, T b) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return arithmetic(a, b, [](auto x, auto y) { return x + y; });
    case ReduceOp::prod:
      return arithmetic(a, b, [](auto x, auto y) { return x * y; });
    case ReduceOp::min:
      return minimum(a, b);
    case ReduceOp::max:
      return maximum(a, b);
  }
  throw Error(ErrorKind::broken, "no such operator");
}

F16 apply(ReduceOp op, F16 a, F16 b) { return to_f16(apply(op, to_float(a), to_float(b))); }
Bf16 apply(ReduceOp op, Bf16 a, Bf16 b) { return to_bf16(apply(op, to_float(a), to_float(b))); }

float divide(float x, int divisor) { return quiet(x / static_cast<float>(divisor)); }
double divide(double x, int divisor) { return quiet(x / static_cast<double>(divisor)); }
F16 divide(F16 x, int divisor) { return to_f16(divide(to_float(x), divisor)); }
Bf16 divide(Bf16 x, int divisor) { return to_bf16(divide(to_float(x), divisor)); }
template <class I>
requires std::is_integral_v<I> I divide(I x, int divisor) { return static_cast<I>(x / divisor); }

template <class T>
T element(std::span<const std::byte> bytes, std::size_t i) {
  T x;
  std::memcpy(&x, &bytes[i * sizeof(T)], sizeof(T));
  return x;
}

template <class T>
void set_element(std::span<std::byte> bytes, std::size_t i, T x) {
  std::memcpy(&bytes[i * sizeof(T)], &x, sizeof(T));
}

/// Calls `use` with a value of the C++ type that `dtype` means.
template <class Use>
void with_type(Dtype dtype, Use&& use) {
  switch (dtype) {
    case Dtype::f32:
      return use(float{});
    case Dtype::f64:
      return use(double{});
    case Dtype::f16:
      return use(F16{});
    case Dtype::bf16:
      return use(Bf16{});
    case Dtype::i32:
      return use(std::int32_t{});
    case Dtype::i64:
      return use(std::int64_t{});
    case Dtype::u8:
      return use(std::uint8_t{});
  }
}

}  // namespace

void combine_scalar(Dtype dtype, ReduceOp op, std::span<std::byte> into,
                    std::span<const std::byte> from) {
  if (into.size() != from.size())
    throw Error(ErrorKind::broken,
                fmt::format("cannot combine {} bytes with {}", into.size(), from.size()));
  with_type(dtype, [&]<class T>(T) {
    for (std::size_t i = 0; i < into.size() / sizeof(T); ++i)
      set_element(into, i, apply(op, element<T>(into, i), element<T>(from, i)));
  });
}

void divide_scalar(Dtype dtype, std::span<std::byte> values, int divisor) {
  with_type(dtype, [&]<class T>(T) {
    for (std::size_t i = 0; i < values.size() / sizeof(T); ++i)
      set_element(values, i, divide(element<T>(values, i), divisor));
  });
}

}  // namespace collmark
