/// The passes for AVX2 and F16C (x86-64-v3). Everything but kPasses is local to this file.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "collectives/simd/pass_table.hpp"

namespace collmark::avx2 {
namespace {

constexpr std::size_t kVectorBytes = 32;

#include "collectives/simd/vectors.ipp"

U32Lanes zero_extended(HalfLanes h) {
  return reinterpret_cast<U32Lanes>(_mm256_cvtepu16_epi32(reinterpret_cast<__m128i>(h)));
}
/// Lanes of x are below 2^16.
HalfLanes low_halves(U32Lanes x) {
  const __m256i lanes = reinterpret_cast<__m256i>(x);
  return reinterpret_cast<HalfLanes>(
      _mm_packus_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1)));
}

template <class V>
void stream(std::byte* to, V v) {
  if constexpr (sizeof v == 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(v));
  else
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(v));
}

F32Lanes f16_to_f32(HalfLanes h) {
  return reinterpret_cast<F32Lanes>(_mm256_cvtph_ps(reinterpret_cast<__m128i>(h)));
}
HalfLanes f32_to_f16(F32Lanes x) {
  return reinterpret_cast<HalfLanes>(
      _mm256_cvtps_ph(reinterpret_cast<__m256>(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

#include "collectives/simd/bf16.ipp"

#include "collectives/simd/elements.ipp"
#include "collectives/simd/passes.ipp"

}  // namespace

extern const PassTable kPasses;
constinit const PassTable kPasses = all_passes();

}  // namespace collmark::avx2
