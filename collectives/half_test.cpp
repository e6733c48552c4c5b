#include "collectives/half.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace collmark {
namespace {

bool is_nan(F16 h) { return (h.bits & 0x7fff) > 0x7c00; }
bool is_nan(Bf16 h) { return (h.bits & 0x7fff) > 0x7f80; }

TEST(Half, F16HasTheBitsOfIeee754) {
  for (const auto& [x, bits] : std::initializer_list<std::pair<float, int>>{
           {1.0F, 0x3c00},
           {-2.0F, 0xc000},
           {65504.0F, 0x7bff},  // the largest
           {0x1p-14F, 0x0400},  // the smallest normal
           {0x1p-24F, 0x0001},  // the smallest
           {-0.0F, 0x8000},
           {0x1p-25F, 0x0000},         // half of the smallest: a tie, to even
           {0x1.8p-24F, 0x0002},       // a tie, to even
           {0x1.000002p-25F, 0x0001},  // just above the tie
           {2049.0F, 0x6800},          // between 2048 and 2050, to even
           {2051.0F, 0x6802},
           {65519.0F, 0x7bff},
           {65520.0F, 0x7c00},  // the tie above the largest goes to infinity
           {-INFINITY, 0xfc00},
           {0x1.ff8p-15F, 0x03ff},  // the largest subnormal
           {0x1.ffcp-15F, 0x0400},  // a tie, to even: into the normals
           {NAN, 0x7e00}})
    EXPECT_EQ(to_f16(x).bits, bits) << x;
}

TEST(Half, Bf16IsTheUpperHalfOfAnF32RoundedToEven) {
  for (const auto& [x, bits] :
       std::initializer_list<std::pair<float, int>>{{1.0F, 0x3f80},
                                                    {0x1.01p0F, 0x3f80},      // a tie, to even
                                                    {0x1.03p0F, 0x3f82},      // a tie, to even
                                                    {0x1.010002p0F, 0x3f81},  // just above the tie
                                                    {0x1.fffffep127F, 0x7f80},
                                                    {-0x1.fep127F, 0xff7f},
                                                    {-0.0F, 0x8000},
                                                    {0x1p-149F, 0x0000},
                                                    {-INFINITY, 0xff80},
                                                    {NAN, 0x7fc0}})
    EXPECT_EQ(to_bf16(x).bits, bits) << x;
}

template <class Half>
void expect_exact_both_ways(Half (*narrow)(float)) {
  for (int bits = 0; bits < 65536; ++bits) {
    const Half h{static_cast<std::uint16_t>(bits)};
    const float x = to_float(h);
    ASSERT_EQ(std::isnan(x), is_nan(h)) << bits;
    if (is_nan(h)) continue;
    ASSERT_EQ(narrow(x).bits, bits);
  }
}

TEST(Half, EveryValueSurvivesTheWayToF32AndBack) {
  expect_exact_both_ways<F16>(to_f16);
  expect_exact_both_ways<Bf16>(to_bf16);
}

/// Neighbouring positive bits are neighbouring values: below the middle of two the lower one is
/// nearest, above it the upper one, and in the middle the even one.
template <class Half>
void expect_nearest(Half (*narrow)(float), int infinity) {
  for (int bits = 0; bits + 1 < infinity; ++bits) {
    const float low = to_float(Half{static_cast<std::uint16_t>(bits)});
    const float high = to_float(Half{static_cast<std::uint16_t>(bits + 1)});
    const float middle = low + (high - low) / 2;
    ASSERT_EQ(narrow(std::nextafterf(middle, low)).bits, bits);
    ASSERT_EQ(narrow(middle).bits, bits + bits % 2);
    ASSERT_EQ(narrow(std::nextafterf(middle, high)).bits, bits + 1);
  }
}

TEST(Half, RoundingGoesToTheNearestAndOnATieToTheEven) {
  expect_nearest<F16>(to_f16, 0x7c00);
  expect_nearest<Bf16>(to_bf16, 0x7f80);
}

}  // namespace
}  // namespace collmark
