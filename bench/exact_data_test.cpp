#include "bench/exact_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "bench/element.hpp"
#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

constexpr int kLooked = 500;  // positions

/// What the dtype makes of `x`: equal to x only if x is exactly representable.
double stored(double x, Dtype dtype) {
  std::byte bytes[8] = {};
  store_exact(x, dtype, bytes);
  return load(bytes, dtype);
}

class ExactValuesOf : public testing::TestWithParam<std::tuple<Dtype, ReduceOp, int>> {
 protected:
  ExactValues values{std::get<2>(GetParam()), std::get<0>(GetParam()), std::get<1>(GetParam())};
};

TEST_P(ExactValuesOf, EveryPartialResultIsExact_LargestFirst) {
  for (int i = 0; i < kLooked; ++i) {
    std::vector<double> inputs;
    for (int r = 0; r < values.contributors; ++r) inputs.push_back(values.input(r, i));
    for (const double x : inputs) ASSERT_EQ(stored(x, values.dtype), x);
    std::sort(inputs.begin(), inputs.end(),
              [](double a, double b) { return std::abs(a) > std::abs(b); });
    double partial = values.op == ReduceOp::prod ? 1.0 : 0.0;
    for (const double x : inputs) {
      if (values.op == ReduceOp::min || values.op == ReduceOp::max) break;
      partial = values.op == ReduceOp::prod ? partial * x : partial + x;
      ASSERT_EQ(stored(partial, values.dtype), partial) << "position " << i;
    }
    ASSERT_EQ(stored(values.result(i), values.dtype), values.result(i)) << "position " << i;
  }
}

TEST_P(ExactValuesOf, CommunicatingNothingIsWrongForEveryRankSomewhereAmongTheFirstPositions) {
  for (int r = 0; r < values.contributors; ++r) {
    int wrong = 0;
    for (int i = 0; i < 64; ++i) wrong += values.input(r, i) != values.result(i) ? 1 : 0;
    EXPECT_TRUE(wrong > 0 || values.contributors == 1) << "rank " << r;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExactValuesOf,
                         testing::Combine(testing::ValuesIn(kDtypes), testing::ValuesIn(kReduceOps),
                                          testing::Values(1, 2, 3, 4, 7, 8, 9, 16, 33, 64)));

TEST(ExactValues, RanksDifferAtEveryPosition) {
  for (const Dtype dtype : kDtypes) {
    const ExactValues values{8, dtype, ReduceOp::sum};
    for (int i = 0; i < kLooked; ++i) {
      std::set<double> seen;
      for (int r = 0; r < 8; ++r) seen.insert(values.input(r, i));
      ASSERT_EQ(seen.size(), 8u) << name(dtype) << " position " << i;
    }
  }
}

TEST(ExactValues, SumIsNeverOneRanksInputNorAMultipleOfItOnAllRanks) {
  for (const Dtype dtype : kDtypes) {
    const ExactValues values{4, dtype, ReduceOp::sum};
    for (int i = 0; i < kLooked; ++i)
      for (int r = 0; r < 4; ++r) {
        ASSERT_NE(values.input(r, i), 0.0);
        ASSERT_NE(values.input(r, i), values.result(i));
        ASSERT_NE(4 * values.input(r, i), values.result(i));
      }
  }
}

TEST(ExactValues, ResultVariesWithPosition) {
  for (const Dtype dtype : kDtypes)
    for (const ReduceOp op : kReduceOps) {
      std::set<double> seen;
      for (int i = 0; i < kLooked; ++i) seen.insert(ExactValues{4, dtype, op}.result(i));
      EXPECT_GE(seen.size(), 2u) << name(dtype) << " " << name(op);
    }
}

/// An all-reduce that is right: what rank 0 should hold after `generation`.
struct Held {
  Held(std::int64_t count, Dtype dtype = Dtype::f32)
      : data(build(Collective::all_reduce, "ring", 2), {.count = {count}, .dtype = dtype}),
        element(size_of(dtype)),
        output(static_cast<std::size_t>(count) * element) {
    const ExactValues values{2, dtype, ReduceOp::sum};
    for (std::int64_t i = 0; i < count; ++i)
      store_exact(values.result(i % kPeriod), dtype,
                  &output[static_cast<std::size_t>(i) * element]);
  }
  ExactData data;
  std::size_t element;
  std::vector<std::byte> output;
};

TEST(ExactData, RightResultPasses) {
  for (const std::int64_t count : {0, 1, 7, kPeriod - 1, kPeriod, 3 * kPeriod + 5}) {
    const Held held(count);
    EXPECT_EQ(held.data.check(0, 0, held.output.data()).wrong, 0) << count;
  }
}

TEST(ExactData, OneWrongBitIsFoundWithItsPlaceAndValues) {
  Held held(10'000);
  const std::size_t at = 9'999;
  const double right = load(&held.output[at * 4], Dtype::f32);
  store_exact(right + 1.0, Dtype::f32, &held.output[at * 4]);
  const Check check = held.data.check(1, 0, held.output.data());
  EXPECT_EQ(check.wrong, 1);
  EXPECT_EQ(check.first.rank, 1);
  EXPECT_EQ(check.first.index, 9'999);
  EXPECT_EQ(check.first.got, right + 1.0);
  EXPECT_EQ(check.first.expected, right);
}

TEST(ExactData, ResultOfTheGenerationBeforeIsWrong) {
  for (const Dtype dtype : kDtypes) {
    const Held held(1003, dtype);
    const auto wrong = held.data.check(0, 1, held.output.data()).wrong;
    EXPECT_GT(wrong, 1003 / 2) << name(dtype);
  }
}

TEST(ExactData, InputsOfTheRanksAddUpToTheCheckedResult) {
  constexpr std::int64_t kCount = 9'000;
  for (const int generation : {0, 1, 17, 4093}) {
    const ExactData data(build(Collective::all_reduce, "ring", 3),
                         {.count = {kCount}, .dtype = Dtype::i32});
    std::vector<std::int32_t> sum(kCount), input(kCount);
    for (int r = 0; r < 3; ++r) {
      data.write_input(r, generation, reinterpret_cast<std::byte*>(input.data()));
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += input[i];
    }
    EXPECT_EQ(data.check(2, generation, reinterpret_cast<const std::byte*>(sum.data())).wrong, 0);
  }
}

TEST(ExactData, AllGatherOwesEachBlockOfItsRank) {
  constexpr std::int64_t kCount = 10;  // blocks of 4, 3, 3
  const ExactData data(build(Collective::all_gather, "ring", 3),
                       {.count = {kCount}, .dtype = Dtype::i32});
  std::vector<std::int32_t> whole(kCount, -1);
  for (int r = 0; r < 3; ++r) data.write_input(r, 5, reinterpret_cast<std::byte*>(whole.data()));
  for (int r = 0; r < 3; ++r)
    EXPECT_EQ(data.check(r, 5, reinterpret_cast<const std::byte*>(whole.data())).wrong, 0);
  std::swap(whole[3], whole[4]);
  EXPECT_EQ(data.check(1, 5, reinterpret_cast<const std::byte*>(whole.data())).wrong, 2);
}

TEST(ExactData, ReferenceOfEveryAlgorithmPasses_ForEveryDtypeAndOperator) {
  constexpr std::int64_t kCount = 37;
  for (const Algorithm& a : catalogue())
    for (const Dtype dtype : kDtypes)
      for (const ReduceOp op : kReduceOps) {
        if (a.collective == Collective::barrier) continue;
        const Payload payload{.count = {kCount}, .dtype = dtype, .op = op};
        const Schedule s = build(a.collective, a.name, 4);
        const ExactData data(s, payload);
        std::vector<ByteBuffer> inputs(4, ByteBuffer(kCount * size_of(dtype)));
        for (int r = 0; r < 4; ++r)
          data.write_input(r, 3, inputs[static_cast<std::size_t>(r)].data());
        const std::vector<ByteBuffer> outputs = reference(s, payload, inputs);
        for (int r = 0; r < 4; ++r)
          EXPECT_EQ(data.check(r, 3, outputs[static_cast<std::size_t>(r)].data()).wrong, 0)
              << name(a.collective) << " " << a.name << " " << name(dtype) << " " << name(op);
      }
}

TEST(ExactData, SumThatTheDtypeCannotHoldIsUnsupported) {
  const Schedule s{.ranks = 300, .chunks = 1};
  EXPECT_THROW(ExactData(s, {.count = {1}, .dtype = Dtype::bf16}), Unsupported);
}

}  // namespace
}  // namespace collmark
