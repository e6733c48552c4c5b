// Conversion between bf16 and f32: an f32 without its lower half.

F32Lanes bf16_to_f32(HalfLanes h) { return reinterpret_cast<F32Lanes>(zero_extended(h) << 16); }

/// Rounds to nearest even: adds just under half a unit of the last place kept, and one more if that
/// place is odd. `x` is no NaN with low bits set (the sum could run over into the sign).
HalfLanes f32_to_bf16(F32Lanes x) {
  const U32Lanes bits = reinterpret_cast<U32Lanes>(x);
  return low_halves((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
