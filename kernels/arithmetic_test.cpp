#include "kernels/arithmetic.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "collectives/scalar_reduce.hpp"

namespace collmark {
namespace {

template <class T>
struct Of;
template <>
struct Of<float> {
  static constexpr Dtype dtype = Dtype::f32;
};
template <>
struct Of<double> {
  static constexpr Dtype dtype = Dtype::f64;
};
template <>
struct Of<Half> {
  static constexpr Dtype dtype = Dtype::f16;
};
template <>
struct Of<Brain> {
  static constexpr Dtype dtype = Dtype::bf16;
};
template <>
struct Of<std::int32_t> {
  static constexpr Dtype dtype = Dtype::i32;
};
template <>
struct Of<std::int64_t> {
  static constexpr Dtype dtype = Dtype::i64;
};
template <>
struct Of<std::uint8_t> {
  static constexpr Dtype dtype = Dtype::u8;
};

/// Bits at the edges of every format, and many that are at none.
template <class T>
std::vector<T> values() {
  std::vector<std::uint64_t> bits{0, 1, 2, ~std::uint64_t{0}};
  for (int b = 0; b < 64; ++b)
    for (const std::uint64_t low : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}})
      bits.push_back((std::uint64_t{1} << b) + low);
  // Infinities, NaN with payloads, the largest and the smallest, both signs; as f16, bf16, f32, f64.
  for (const std::uint64_t x : {0x7c00U, 0x7e01U, 0x7bffU, 0x0400U, 0x7f80U, 0x7fc1U, 0x7f7fU})
    for (const std::uint64_t sign : {0U, 0x8000U})
      for (const int up : {0, 16, 48}) bits.push_back((x | sign) << up);
  std::mt19937_64 random(11);
  for (int i = 0; i < 100; ++i) bits.push_back(random());
  std::vector<T> all(bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(&all[i], &bits[i], sizeof(T));
  return all;
}

template <class T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
class ArithmeticOf : public testing::Test {};
using Types = testing::Types<float, double, Half, Brain, std::int32_t, std::int64_t, std::uint8_t>;
TYPED_TEST_SUITE(ArithmeticOf, Types);

TYPED_TEST(ArithmeticOf, EveryPairCombinesToTheBitsOfTheReference) {
  constexpr std::pair<Operator, ReduceOp> kOps[]{{Operator::sum, ReduceOp::sum},
                                                 {Operator::prod, ReduceOp::prod},
                                                 {Operator::min, ReduceOp::min},
                                                 {Operator::max, ReduceOp::max}};
  for (const auto& [op, reference] : kOps)
    for (const TypeParam a : values<TypeParam>())
      for (const TypeParam b : values<TypeParam>()) {
        TypeParam expected = a;
        combine_scalar(Of<TypeParam>::dtype, reference,
                       std::as_writable_bytes(std::span(&expected, 1)),
                       std::as_bytes(std::span(&b, 1)));
        ASSERT_TRUE(same(combined(op, a, b), expected)) << name(reference);
      }
}

TYPED_TEST(ArithmeticOf, EveryValueIsDividedToTheBitsOfTheReference) {
  for (const int divisor : {2, 3, 7, 8, 300})
    for (const TypeParam a : values<TypeParam>()) {
      TypeParam expected = a;
      divide_scalar(Of<TypeParam>::dtype, std::as_writable_bytes(std::span(&expected, 1)), divisor);
      ASSERT_TRUE(same(divided(a, divisor), expected)) << divisor;
    }
}

}  // namespace
}  // namespace collmark
