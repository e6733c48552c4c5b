#include "bench/hard_values.hpp"

#include <cstring>
#include <random>

namespace collmark {
namespace {

using Random = std::mt19937_64;

/// Bits of a float: sign, exponent, mantissa, from the highest on.
struct Format {
  int exponent, mantissa;
  [[nodiscard]] std::uint64_t sign(std::uint64_t random) const {
    return (random & 1) << (exponent + mantissa);
  }
  [[nodiscard]] std::uint64_t fraction(std::uint64_t random) const {
    return random & ((std::uint64_t{1} << mantissa) - 1);
  }
  [[nodiscard]] std::uint64_t all_ones() const { return (std::uint64_t{1} << exponent) - 1; }
  [[nodiscard]] std::uint64_t joined(std::uint64_t e, std::uint64_t fraction) const {
    return e << mantissa | fraction;
  }
};

/// Of integers there is none: no exponent.
Format format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return {8, 23};
    case Dtype::f64:
      return {11, 52};
    case Dtype::f16:
      return {5, 10};
    case Dtype::bf16:
      return {8, 7};
    case Dtype::i32:
    case Dtype::i64:
    case Dtype::u8:
      break;
  }
  return {0, 0};
}

enum class Kind { number, subnormal, one_subnormal, zero, large, nan };

Kind kind_of(std::int64_t position, Random& random) {
  constexpr Kind kRare[] = {Kind::subnormal, Kind::subnormal, Kind::one_subnormal,
                            Kind::zero,      Kind::large,     Kind::nan};
  const auto drawn = (random() + static_cast<std::uint64_t>(position)) % 16;
  return drawn < std::size(kRare) ? kRare[drawn] : Kind::number;
}

class Values {
 public:
  Values(Format format, int ranks, std::uint64_t seed) : f_(format), ranks_(ranks), random_(seed) {}

  /// The values of all ranks at one position, in turn.
  void begin(std::int64_t position) {
    kind_ = kind_of(position, random_);
    odd_one_ = static_cast<int>(random_() % static_cast<std::uint64_t>(ranks_));
    other_ = static_cast<int>(random_() % static_cast<std::uint64_t>(ranks_));
  }
  std::uint64_t bits(int rank) {
    const std::uint64_t sign = f_.sign(random_()), drawn = random_();
    const bool odd = rank == odd_one_;
    switch (kind_) {
      case Kind::zero:
        return sign;
      case Kind::subnormal:
        return sign | f_.fraction(drawn >> 1);
      case Kind::one_subnormal:
        return odd ? sign | f_.fraction(drawn) : sign | number(drawn);
      case Kind::large:
        if (odd) return sign | f_.joined(f_.all_ones(), 0);
        if (rank == other_) return sign | (f_.joined(f_.all_ones(), 0) - 1);
        return sign | number(drawn);
      case Kind::nan:
        return odd ? sign | f_.joined(f_.all_ones(), quiet(drawn)) : sign | number(drawn);
      case Kind::number:
        break;
    }
    return sign | number(drawn);
  }

 private:
  [[nodiscard]] std::uint64_t number(std::uint64_t drawn) const {
    const std::uint64_t one = f_.all_ones() / 2;  // the exponent of 1
    return f_.joined(one - 2 + (drawn >> 60) % 5, f_.fraction(drawn));
  }
  [[nodiscard]] std::uint64_t quiet(std::uint64_t drawn) const {
    return f_.fraction(drawn) | std::uint64_t{1} << (f_.mantissa - 1);
  }

  Format f_;
  int ranks_;
  Random random_;
  Kind kind_ = Kind::number;
  int odd_one_ = 0, other_ = 0;
};

}  // namespace

std::vector<ByteBuffer> hard_inputs(int ranks, const Payload& payload, std::uint64_t seed) {
  const std::size_t element = size_of(payload.dtype);
  const auto count = static_cast<std::size_t>(payload.count.value);
  std::vector<ByteBuffer> inputs(static_cast<std::size_t>(ranks), ByteBuffer(count * element));
  const Format format = format_of(payload.dtype);
  Values values(format, ranks, seed);
  Random integers(seed);
  for (std::size_t i = 0; i < count; ++i) {
    values.begin(static_cast<std::int64_t>(i));
    int rank = 0;
    for (ByteBuffer& input : inputs) {
      const std::uint64_t bits = format.exponent == 0 ? integers() : values.bits(rank++);
      std::memcpy(&input[i * element], &bits, element);  // little-endian, as GPUs are
    }
  }
  return inputs;
}

}  // namespace collmark
