// How each dtype lies in memory (Raw), how it is computed with (Lanes), and the operators on lanes.

/// Every NaN becomes the one quiet NaN: which payload survives an addition differs between
/// instruction sets, and a compiler may swap the operands.
template <class Lanes>
Lanes quieted(Lanes x) {
  return x == x ? x : Lanes{} + __builtin_nanf("");
}

/// IEEE 754-2019 minimum and maximum. Equal numbers differ in the sign of zero at most: its bit
/// is set in the minimum if either has it, in the maximum if both have.
template <class F, class Bits>
struct Floating {
  using Lanes = F;
  static Lanes sum(Lanes a, Lanes b) { return a + b; }
  static Lanes prod(Lanes a, Lanes b) { return a * b; }
  static Lanes min(Lanes a, Lanes b) {
    const Lanes equal =
        reinterpret_cast<Lanes>(reinterpret_cast<Bits>(a) | reinterpret_cast<Bits>(b));
    const Lanes number = a == b ? equal : (a < b ? a : b);  // b if b is a NaN
    return a == a ? number : a;
  }
  static Lanes max(Lanes a, Lanes b) {
    const Lanes equal =
        reinterpret_cast<Lanes>(reinterpret_cast<Bits>(a) & reinterpret_cast<Bits>(b));
    const Lanes number = a == b ? equal : (a > b ? a : b);
    return a == a ? number : a;
  }
};

struct F32 : Floating<F32Lanes, U32Lanes> {
  using Raw = F32Lanes;
  static constexpr std::size_t kElementBytes = 4;
  static Lanes widened(Raw x) { return x; }
  static Raw narrowed(Lanes x) { return quieted(x); }
  static Lanes average(Lanes x, int divisor) { return x / static_cast<float>(divisor); }
};

struct F64 : Floating<F64Lanes, U64Lanes> {
  using Raw = F64Lanes;
  static constexpr std::size_t kElementBytes = 8;
  static Lanes widened(Raw x) { return x; }
  static Raw narrowed(Lanes x) { return quieted(x); }
  static Lanes average(Lanes x, int divisor) { return x / static_cast<double>(divisor); }
};

struct F16 : Floating<F32Lanes, U32Lanes> {
  using Raw = HalfLanes;
  static constexpr std::size_t kElementBytes = 2;
  static Lanes widened(Raw x) { return f16_to_f32(x); }
  static Raw narrowed(Lanes x) { return f32_to_f16(quieted(x)); }
  static Lanes average(Lanes x, int divisor) { return x / static_cast<float>(divisor); }
};

struct Bf16 : Floating<F32Lanes, U32Lanes> {
  using Raw = HalfLanes;
  static constexpr std::size_t kElementBytes = 2;
  static Lanes widened(Raw x) { return bf16_to_f32(x); }
  static Raw narrowed(Lanes x) { return f32_to_bf16(quieted(x)); }
  static Lanes average(Lanes x, int divisor) { return x / static_cast<float>(divisor); }
};

/// Sums and products wrap around: they are taken on the unsigned lanes. An average is truncated:
/// no CPU divides integer vectors, but a floating-point quotient of |a| < 2^p (p bits of precision)
/// is exact after truncation, as a / d lies at least 1 / d > (a / d) 2^-p below the next integer.
template <class I, class Unsigned, class Scalar, class Quotient>
struct Integer {
  using Raw = I;
  static constexpr std::size_t kElementBytes = sizeof(Scalar);
  using Lanes = I;
  static Lanes widened(Raw x) { return x; }
  static Raw narrowed(Lanes x) { return x; }
  static Lanes sum(Lanes a, Lanes b) {
    return reinterpret_cast<Lanes>(reinterpret_cast<Unsigned>(a) + reinterpret_cast<Unsigned>(b));
  }
  static Lanes prod(Lanes a, Lanes b) {
    return reinterpret_cast<Lanes>(reinterpret_cast<Unsigned>(a) * reinterpret_cast<Unsigned>(b));
  }
  static Lanes min(Lanes a, Lanes b) { return a < b ? a : b; }
  static Lanes max(Lanes a, Lanes b) { return a > b ? a : b; }
  static Lanes average(Lanes x, int divisor) {
    Scalar lane[sizeof x / sizeof(Scalar)];
    __builtin_memcpy(lane, &x, sizeof x);
    for (Scalar& a : lane)
      a = static_cast<Scalar>(static_cast<Quotient>(a) / static_cast<Quotient>(divisor));
    __builtin_memcpy(&x, lane, sizeof x);
    return x;
  }
};

struct I32 : Integer<I32Lanes, U32Lanes, std::int32_t, double> {};
struct I64 : Integer<I64Lanes, U64Lanes, std::int64_t, std::int64_t> {};
struct U8 : Integer<U8Lanes, U8Lanes, std::uint8_t, float> {};

struct Sum {
  template <class Type, class Lanes>
  static Lanes apply(Lanes a, Lanes b) {
    return Type::sum(a, b);
  }
};
struct Prod {
  template <class Type, class Lanes>
  static Lanes apply(Lanes a, Lanes b) {
    return Type::prod(a, b);
  }
};
struct Min {
  template <class Type, class Lanes>
  static Lanes apply(Lanes a, Lanes b) {
    return Type::min(a, b);
  }
};
struct Max {
  template <class Type, class Lanes>
  static Lanes apply(Lanes a, Lanes b) {
    return Type::max(a, b);
  }
};
