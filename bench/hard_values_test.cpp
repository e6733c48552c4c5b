#include "bench/hard_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "bench/element.hpp"
#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

constexpr int kRanks = 5;

struct Seen {
  int subnormal = 0, negative_zero = 0, infinite = 0, nan = 0;
};

TEST(HardValues, HoldWhatArithmeticLikesToGetWrong) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16}) {
    const double least = dtype == Dtype::f16 ? 0x1p-14 : dtype == Dtype::f64 ? 0x1p-1022 : 0x1p-126;
    const Payload payload{.count = {1000}, .dtype = dtype};
    Seen seen;
    for (const ByteBuffer& input : hard_inputs(kRanks, payload, 1))
      for (std::size_t i = 0; i < 1000; ++i) {
        const double x = load(&input[i * size_of(dtype)], dtype);
        seen.subnormal += x != 0 && std::fabs(x) < least ? 1 : 0;
        seen.negative_zero += x == 0 && std::signbit(x) ? 1 : 0;
        seen.infinite += std::isinf(x) ? 1 : 0;
        seen.nan += std::isnan(x) ? 1 : 0;
      }
    for (const int found : {seen.subnormal, seen.negative_zero, seen.infinite, seen.nan})
      EXPECT_GT(found, 20) << name(dtype);
  }
}

/// Adds from the last rank to the first, where the reference goes the other way.
TEST(HardValues, GiveOtherBitsInAnotherOrder) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16}) {
    const Payload payload{.count = {1000}, .dtype = dtype};
    const std::vector<ByteBuffer> inputs = hard_inputs(kRanks, payload, 2);
    const std::vector<ByteBuffer> turned(inputs.rbegin(), inputs.rend());
    const Schedule s = build(Collective::all_reduce, "parameter_server", kRanks);
    const ByteBuffer one = reference(s, payload, inputs)[0];
    const ByteBuffer other = reference(s, payload, turned)[0];
    int differ = 0;
    for (std::size_t i = 0; i < one.size(); i += size_of(dtype))
      differ += std::memcmp(&one[i], &other[i], size_of(dtype)) != 0 ? 1 : 0;
    EXPECT_GT(differ, 100) << name(dtype);
  }
}

TEST(HardValues, AreTheSameForTheSameSeed) {
  const Payload payload{.count = {100}, .dtype = Dtype::i64};
  EXPECT_EQ(hard_inputs(2, payload, 7), hard_inputs(2, payload, 7));
  EXPECT_NE(hard_inputs(2, payload, 7), hard_inputs(2, payload, 8));
}

}  // namespace
}  // namespace collmark
