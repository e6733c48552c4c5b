// Conversion between f16 and f32 where the CPU has no instruction for it. The idea is Fabian
// Giesen's (https://gist.github.com/rygorous/2156668): let one f32 addition do the normalising
// (subnormal f16 to f32) or the rounding (f32 to subnormal f16).

F32Lanes f16_to_f32(HalfLanes h) {
  const U32Lanes bits = zero_extended(h);
  const U32Lanes magnitude = (bits & 0x7fff) << 13;
  const U32Lanes exponent = magnitude & 0x0f800000;
  const U32Lanes normal = magnitude + ((127 - 15) << 23);
  const U32Lanes special = magnitude + ((255 - 31) << 23);  // infinity and NaN
  constexpr std::uint32_t kSmallest = (127 - 14) << 23;     // 2^-14, the smallest normal f16
  const F32Lanes base = reinterpret_cast<F32Lanes>(U32Lanes{} + kSmallest);
  const F32Lanes subnormal = reinterpret_cast<F32Lanes>(magnitude + kSmallest) - base;
  U32Lanes out = exponent == 0 ? reinterpret_cast<U32Lanes>(subnormal) : normal;
  out = exponent == 0x0f800000 ? special : out;
  return reinterpret_cast<F32Lanes>(out | (bits & 0x8000) << 16);
}

/// Rounds to nearest even. A NaN becomes 0x7e00 with its sign.
HalfLanes f32_to_f16(F32Lanes x) {
  const U32Lanes bits = reinterpret_cast<U32Lanes>(x);
  const U32Lanes magnitude = bits & 0x7fffffff;
  const U32Lanes rebiased = magnitude - ((127 - 15) << 23);
  const U32Lanes normal = (rebiased + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // One unit of 0.5 is 2^-24, the smallest subnormal f16: the addition rounds to it.
  constexpr std::uint32_t kHalf = 126 << 23;
  const F32Lanes half = reinterpret_cast<F32Lanes>(U32Lanes{} + kHalf);
  const U32Lanes subnormal =
      reinterpret_cast<U32Lanes>(reinterpret_cast<F32Lanes>(magnitude) + half) - kHalf;
  U32Lanes out = magnitude < ((127 - 14) << 23) ? subnormal : normal;
  out = magnitude >= ((127 + 16) << 23) ? U32Lanes{} + 0x7c00 : out;  // 2^16 and infinity
  out = magnitude > 0x7f800000 ? U32Lanes{} + 0x7e00 : out;
  return low_halves(out | (bits & 0x80000000) >> 16);
}
