// The reference against sums, products and extremes in higher precision, for every algorithm that
// reduces: what holds whatever the order, and so tells a wrong meaning from a mere rounding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "collectives/catalogue.hpp"
#include "collectives/half.hpp"
#include "collectives/partition.hpp"
#include "collectives/promise.hpp"
#include "collectives/reference.hpp"

namespace collmark {
namespace {

// Long double has 64 bits of precision or more on the machines we know of, f64 has 53.
using Exact = long double;

struct Format {
  Dtype dtype;
  Exact unit;      // of rounding: relative error of one operation
  Exact smallest;  // what an operation near zero may be off by
};
constexpr Format kFormats[] = {{Dtype::f32, 0x1p-24L, 0x1p-150L},
                               {Dtype::f64, 0x1p-53L, 0x1p-1000L},
                               {Dtype::f16, 0x1.01p-11L, 0x1p-25L},  // through f32: rounded twice
                               {Dtype::bf16, 0x1.01p-8L, 0x1p-134L}};

template <class T>
T at(const ByteBuffer& b, std::size_t i) {
  T x;
  std::memcpy(&x, &b[i * sizeof(T)], sizeof(T));
  return x;
}

Exact element(Dtype dtype, const ByteBuffer& b, std::size_t i) {
  if (dtype == Dtype::f32) return static_cast<Exact>(at<float>(b, i));
  if (dtype == Dtype::f64) return static_cast<Exact>(at<double>(b, i));
  if (dtype == Dtype::f16) return static_cast<Exact>(to_float(at<F16>(b, i)));
  return static_cast<Exact>(to_float(at<Bf16>(b, i)));
}

/// Numbers in [-1, 1), other ones on every rank.
std::vector<ByteBuffer> inputs(Dtype dtype, int ranks, std::int64_t count) {
  std::mt19937_64 random(static_cast<std::uint64_t>(ranks) * 1000 +
                         static_cast<std::uint64_t>(count));
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const std::size_t size = size_of(dtype);
  std::vector<ByteBuffer> all(static_cast<std::size_t>(ranks),
                              ByteBuffer(static_cast<std::size_t>(count) * size));
  for (ByteBuffer& b : all) {
    for (std::size_t i = 0; i < b.size() / size; ++i) {
      const double x = uniform(random);
      const auto f = static_cast<float>(x);
      const F16 h = to_f16(f);
      const Bf16 bh = to_bf16(f);
      const void* const from = dtype == Dtype::f64   ? static_cast<const void*>(&x)
                               : dtype == Dtype::f32 ? static_cast<const void*>(&f)
                               : dtype == Dtype::f16 ? static_cast<const void*>(&h)
                                                     : static_cast<const void*>(&bh);
      std::memcpy(&b[i * size], from, size);
    }
  }
  return all;
}

struct Expected {
  Exact value;
  Exact most_off;
};

/// k - 1 operations in any order: Higham, Accuracy and Stability of Numerical Algorithms, 2002, 3.1
/// and 4.2, |error| <= gamma (|x1| + ... + |xk|) for sums, gamma |product| for products.
Expected expected(ReduceOp op, const std::vector<Exact>& xs, const Format& f) {
  const auto operations = static_cast<Exact>(xs.size());  // one more than are made: avg divides
  const Exact gamma = operations * f.unit / (1 - operations * f.unit);
  Exact sum = 0, magnitude = 0, product = 1;
  for (const Exact x : xs) sum += x, magnitude += std::fabs(x), product *= x;
  const Exact near_zero = operations * f.smallest;
  switch (op) {
    case ReduceOp::sum:
      return {sum, gamma * magnitude + near_zero};
    case ReduceOp::avg:
      return {sum / operations, gamma * magnitude / operations + near_zero};
    case ReduceOp::prod:
      return {product, gamma * std::fabs(product) + near_zero};
    case ReduceOp::min:
      return {*std::min_element(xs.begin(), xs.end()), 0};
    case ReduceOp::max:
      return {*std::max_element(xs.begin(), xs.end()), 0};
  }
  return {};
}

/// Calls `check(rank, element)` for every element that is owed reduced.
template <class Check>
void for_each_owed(const Schedule& s, Elements count, Check&& check) {
  const Partition part(s, count);
  for (int rank = 0; rank < s.ranks; ++rank) {
    for (int chunk = 0; chunk < s.chunks; ++chunk) {
      if (owed_after(s, rank, chunk).what != Owed::What::every_contributor) continue;
      const Span span = part.chunk(chunk);
      for (std::int64_t i = 0; i < span.size.value; ++i)
        check(static_cast<std::size_t>(rank), static_cast<std::size_t>(span.offset.value + i));
    }
  }
}

void expect_close(const Schedule& s, const Format& f, std::int64_t count) {
  const std::vector<ByteBuffer> in = inputs(f.dtype, s.ranks, count);
  for (const ReduceOp op : kReduceOps) {
    const auto out = reference(s, {.count = {count}, .dtype = f.dtype, .op = op}, in);
    for_each_owed(s, {count}, [&](std::size_t rank, std::size_t i) {
      std::vector<Exact> xs;
      for (int r = 0; r < s.ranks; ++r)
        if (s.contributes(r)) xs.push_back(element(f.dtype, in[static_cast<std::size_t>(r)], i));
      const Expected want = expected(op, xs, f);
      const Exact off = std::fabs(element(f.dtype, out[rank], i) - want.value);
      ASSERT_LE(static_cast<double>(off), static_cast<double>(want.most_off))
          << name(op) << " of " << name(f.dtype) << ", count " << count << ", rank " << rank
          << ", element " << i;
    });
  }
}

std::vector<Algorithm> reducing_algorithms() {
  std::vector<Algorithm> some;
  for (const Algorithm& a : catalogue())
    if (reduces(a.collective)) some.push_back(a);
  return some;
}

class ReferencePrecision : public testing::TestWithParam<Algorithm> {};

TEST_P(ReferencePrecision, EveryOwedElementIsTheReductionOfAllContributors) {
  int checked = 0;
  for (int ranks = 1; ranks <= 9; ++ranks) {
    try {
      const Schedule s = build(GetParam().collective, GetParam().name, ranks);
      SCOPED_TRACE(std::to_string(ranks) + " ranks");
      for (const Format& f : kFormats)
        for (const int count : {0, 1, ranks - 1, ranks + 1, 61}) expect_close(s, f, count);
      ++checked;
    } catch (const Unsupported&) {  // this algorithm has no such number of ranks
    }
  }
  EXPECT_GT(checked, 2);
}

std::string test_name(const testing::TestParamInfo<Algorithm>& tested) {
  return std::string(name(tested.param.collective)) + "_" + std::string(tested.param.name);
}
INSTANTIATE_TEST_SUITE_P(Every, ReferencePrecision, testing::ValuesIn(reducing_algorithms()),
                         test_name);

}  // namespace
}  // namespace collmark
