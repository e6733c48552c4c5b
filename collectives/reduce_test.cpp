#include "collectives/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/scalar_reduce.hpp"

namespace collmark {
namespace {

using Buffer = std::vector<std::byte>;
constexpr std::size_t kMostSources = 9;
constexpr std::size_t kMostDestinations = 4;
constexpr std::size_t kMostElements = 1003;
constexpr std::size_t kGuard = 64;  // [bytes] on both sides of a destination, never to be written
constexpr std::byte kUntouched{0xa5};

/// Bit patterns on the borders of each format: zeros, subnormals, ones, largest, infinities, NaNs.
std::vector<std::uint64_t> borders(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return {0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x3f800000, 0xbf800000,
              0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001};
    case Dtype::f64:
      return {0,
              1ULL << 63,
              1,
              0x800fffffffffffff,
              0x3ff0000000000000,
              0x7fefffffffffffff,
              0x7ff0000000000000,
              0xfff0000000000000,
              0x7ff8000000000000,
              0xfff0000000000001};
    case Dtype::f16:
      return {0,      0x8000, 1,      0x83ff, 0x0400, 0x3c00, 0xbc00,
              0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01};
    case Dtype::bf16:
      return {0,      0x8000, 1,      0x807f, 0x0080, 0x3f80, 0xbf80,
              0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffff, 0x7f81};
    case Dtype::i32:
      return {0, 1, 0xffffffff, 0x7fffffff, 0x80000000};
    case Dtype::i64:
      return {0, 1, ~0ULL, ~0ULL >> 1, 1ULL << 63};
    case Dtype::u8:
      return {0, 1, 127, 128, 255};
  }
  return {};
}

/// Any bits at all, every fourth element a border case. Sources differ by their seed.
Buffer values(Dtype dtype, std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  const std::size_t size = size_of(dtype);
  const std::vector<std::uint64_t> special = borders(dtype);
  Buffer bytes(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t any = random();
    const std::uint64_t x = random() % 4 == 0 ? special[any % special.size()] : any;
    std::memcpy(&bytes[i * size], &x, size);  // the low bytes
  }
  return bytes;
}

/// A buffer whose first element lies `shift` bytes after a cache line's start, with guards.
class Placed {
 public:
  Placed(std::size_t bytes, std::size_t shift) : memory_(bytes + 2 * kGuard + 128), bytes_(bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_.data() + kGuard);
    data_ = memory_.data() + kGuard + (-at % 64) + shift % 64;
  }
  [[nodiscard]] std::byte* data() { return data_; }
  void fill(const Buffer& from) { std::copy_n(from.begin(), bytes_, data_); }
  void clear(std::size_t bytes) { std::fill(data_ - kGuard, data_ + bytes + kGuard, kUntouched); }
  [[nodiscard]] bool holds(const Buffer& expected, std::size_t bytes) const {
    const auto untouched = [](std::byte b) { return b == kUntouched; };
    return std::equal(data_, data_ + bytes, expected.begin()) &&
           std::all_of(data_ - kGuard, data_, untouched) &&
           std::all_of(data_ + bytes, data_ + bytes + kGuard, untouched);
  }

 private:
  Buffer memory_;
  std::size_t bytes_;
  std::byte* data_;
};

/// Where buffer i lies, in bytes after a cache line's start.
struct Placement {
  const char* name;
  std::size_t (*shift)(std::size_t i, std::size_t element);
};
constexpr Placement kPlacements[] = {
    {"all aligned", [](std::size_t, std::size_t) { return std::size_t{0}; }},
    {"all 3 elements off", [](std::size_t, std::size_t element) { return 3 * element; }},
    {"each elsewhere", [](std::size_t i, std::size_t element) { return (5 * i + 1) * element; }},
    {"odd addresses", [](std::size_t i, std::size_t) { return 2 * i + 1; }},
};

/// sources[0] op sources[1] op ... in list order.
Buffer expected(Dtype dtype, ReduceOp op, const std::vector<Buffer>& sources, std::size_t k) {
  Buffer sum = sources[0];
  for (std::size_t j = 1; j < k; ++j) combine_scalar(dtype, op, sum, sources[j]);
  return sum;
}

std::vector<std::size_t> counts() {
  std::vector<std::size_t> all{kMostElements};
  for (std::size_t n = 0; n <= 67; ++n) all.push_back(n);
  return all;
}

class ReducePassTest : public testing::TestWithParam<std::tuple<InstructionSet, Dtype>> {
 protected:
  void SetUp() override {
    if (reduce_pass(dtype(), ReduceOp::sum, set()) == nullptr)
      GTEST_SKIP() << "this CPU or build lacks " << name(set());
    for (unsigned j = 0; j < kMostSources; ++j)
      sources_.push_back(values(dtype(), kMostElements, 17 + j));
  }
  [[nodiscard]] static InstructionSet set() { return std::get<0>(GetParam()); }
  [[nodiscard]] static Dtype dtype() { return std::get<1>(GetParam()); }

  std::vector<Buffer> sources_;
};

/// All buffers of one pass, placed; the pass can then be asked for any k, m and count.
struct Bench {
  Bench(const std::vector<Buffer>& sources, const Placement& placement, std::size_t element) {
    for (std::size_t j = 0; j < sources.size(); ++j) {
      from.emplace_back(sources[j].size(), placement.shift(j, element)).fill(sources[j]);
      source.push_back(from.back().data());
    }
    for (std::size_t m = 0; m < kMostDestinations; ++m) {
      to.emplace_back(sources[0].size(), placement.shift(m, element));
      destination.push_back(to.back().data());
    }
  }
  /// True if all m destinations hold `want` and nothing beside them was touched.
  bool gives(const Buffer& want, ReducePass pass, std::tuple<std::size_t, std::size_t, Stores> how,
             std::size_t count) {
    const auto [k, m, stores] = how;
    const std::size_t bytes = count * (want.size() / kMostElements);
    for (std::size_t d = 0; d < m; ++d) to[d].clear(bytes);
    pass(std::span(source).first(k), std::span(destination).first(m), count, stores);
    streaming_fence();
    return std::all_of(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(m),
                       [&](const Placed& p) { return p.holds(want, bytes); });
  }
  std::vector<Placed> from, to;
  std::vector<const std::byte*> source;
  std::vector<std::byte*> destination;
};

TEST_P(ReducePassTest, EqualsTheScalarReductionBitForBit) {
  for (const Placement& placement : kPlacements) {
    Bench bench(sources_, placement, size_of(dtype()));
    for (const ReduceOp op : kReduceOps) {
      for (std::size_t k = 1; k <= kMostSources; ++k) {
        const Buffer want = expected(dtype(), op, sources_, k);
        for (std::size_t m = 1; m <= kMostDestinations; ++m)
          for (const Stores stores : {Stores::cached, Stores::streaming})
            for (const std::size_t count : counts())
              ASSERT_TRUE(bench.gives(want, reduce_pass(dtype(), op, set()), {k, m, stores}, count))
                  << name(op) << ", k = " << k << ", m = " << m << ", count = " << count << ", "
                  << placement.name << (stores == Stores::cached ? ", cached" : ", streaming");
      }
    }
  }
}

TEST_P(ReducePassTest, ADestinationMayBeAnyOfTheSources) {
  const std::size_t bytes = kMostElements * size_of(dtype());
  for (const Stores stores : {Stores::cached, Stores::streaming}) {
    for (std::size_t k = 1; k <= 4; ++k) {
      for (std::size_t shared = 0; shared < k; ++shared) {
        for (std::size_t m = 1; m <= 2; ++m) {
          Bench bench(sources_, kPlacements[1], size_of(dtype()));
          bench.destination[0] = bench.from[shared].data();
          reduce_pass(dtype(), ReduceOp::sum, set())(std::span(bench.source).first(k),
                                                     std::span(bench.destination).first(m),
                                                     kMostElements, stores);
          const Buffer want = expected(dtype(), ReduceOp::sum, sources_, k);
          for (std::size_t d = 0; d < m; ++d)
            ASSERT_EQ(std::memcmp(bench.destination[d], want.data(), bytes), 0)
                << "k = " << k << ", destination 0 is source " << shared << ", m = " << m;
        }
      }
    }
  }
}

TEST_P(ReducePassTest, AverageEqualsTheScalarDivisionBitForBit) {
  for (const std::size_t shift : {std::size_t{0}, size_of(dtype()), std::size_t{1}}) {
    for (const int divisor : {1, 2, 3, 7, 8, 255, 1000, 65536, 2147483647}) {
      for (const std::size_t count : counts()) {
        const std::size_t bytes = count * size_of(dtype());
        Buffer want(sources_[0].begin(), sources_[0].begin() + static_cast<std::ptrdiff_t>(bytes));
        Placed got(bytes, shift);
        got.clear(bytes);
        got.fill(want);
        divide_scalar(dtype(), want, divisor);
        average_pass(dtype(), set())(got.data(), count, divisor);
        ASSERT_TRUE(got.holds(want, bytes)) << "count = " << count << ", divisor = " << divisor;
      }
    }
  }
}

class HalfPassTest : public ReducePassTest {};

/// Every 16-bit pattern against 61 others: products of f16 need 22 bits and reach every rounding,
/// subnormals and overflow among them.
TEST_P(HalfPassTest, RoundsLikeTheScalarReduction) {
  constexpr std::size_t kAll = 65536;
  Buffer a(kAll * 2), b(kAll * 2);
  for (std::uint32_t i = 0; i < kAll; ++i) std::memcpy(&a[i * 2], &i, 2);
  for (std::uint32_t partner = 0; partner < kAll; partner += 1091) {
    for (std::uint32_t i = 0; i < kAll; ++i) {
      const std::uint32_t mixed = partner ^ (i * 7 & 0x3ff);
      std::memcpy(&b[i * 2], &mixed, 2);
    }
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max}) {
      Buffer want = a, got(kAll * 2);
      combine_scalar(dtype(), op, want, b);
      const std::array<const std::byte*, 2> sources{a.data(), b.data()};
      const std::array destinations{got.data()};
      reduce_pass(dtype(), op, set())(sources, destinations, kAll, Stores::cached);
      ASSERT_EQ(got, want) << name(op) << ", partner " << partner;
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::tuple<InstructionSet, Dtype>>& info) {
  return std::string(name(std::get<0>(info.param))) + "_" +
         std::string(name(std::get<1>(info.param)));
}
const auto kSets =
    testing::Values(InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512);
INSTANTIATE_TEST_SUITE_P(Every, ReducePassTest, testing::Combine(kSets, testing::ValuesIn(kDtypes)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Every, HalfPassTest,
                         testing::Combine(kSets, testing::Values(Dtype::f16, Dtype::bf16)),
                         test_name);

template <class T>
T combined(Dtype dtype, ReduceOp op, T a, T b) {
  T out{};
  const std::array sources{reinterpret_cast<const std::byte*>(&a),
                           reinterpret_cast<const std::byte*>(&b)};
  const std::array destinations{reinterpret_cast<std::byte*>(&out)};
  reduce_pass(dtype, op)(sources, destinations, 1, Stores::cached);
  return out;
}

TEST(ReducePass, NanWinsAndIsAlwaysTheSameNan) {
  constexpr std::uint32_t kQuiet = 0x7fc00000, kOne = 0x3f800000;
  for (const std::uint32_t nan : {0x7fc00000U, 0xffc12345U, 0x7f800001U, 0xff800001U}) {
    for (const ReduceOp op : kReduceOps) {
      EXPECT_EQ(combined(Dtype::f32, op, nan, kOne), kQuiet) << name(op);
      EXPECT_EQ(combined(Dtype::f32, op, kOne, nan), kQuiet) << name(op);
    }
  }
  EXPECT_EQ(combined(Dtype::f32, ReduceOp::sum, 0x7f800000U, 0xff800000U), kQuiet) << "inf - inf";
}

TEST(ReducePass, MinusZeroIsLessThanPlusZero) {
  for (const auto& [a, b] : {std::pair{0.0F, -0.0F}, std::pair{-0.0F, 0.0F}}) {
    EXPECT_TRUE(std::signbit(combined(Dtype::f32, ReduceOp::min, a, b)));
    EXPECT_FALSE(std::signbit(combined(Dtype::f32, ReduceOp::max, a, b)));
  }
}

TEST(ReducePass, IntegersWrapAround) {
  EXPECT_EQ(combined<std::int32_t>(Dtype::i32, ReduceOp::sum, 2147483647, 1), -2147483647 - 1);
  EXPECT_EQ(combined<std::uint8_t>(Dtype::u8, ReduceOp::sum, 200, 100), 44);
  EXPECT_EQ(combined<std::uint8_t>(Dtype::u8, ReduceOp::prod, 16, 17), 16);
}

TEST(ReducePass, TheChosenSetIsTheBestThatThisCpuHas) {
  const InstructionSet best = best_instruction_set();
  EXPECT_EQ(reduce_pass(Dtype::f32, ReduceOp::sum), reduce_pass(Dtype::f32, ReduceOp::sum, best));
  EXPECT_EQ(average_pass(Dtype::u8), average_pass(Dtype::u8, best));
  for (const InstructionSet set : {InstructionSet::avx2, InstructionSet::avx512})
    EXPECT_EQ(reduce_pass(Dtype::f32, ReduceOp::sum, set) == nullptr, set > best);
}

}  // namespace
}  // namespace collmark
