/// The passes for any x86-64. Everything but kPasses is local to this file.
#include <emmintrin.h>

#include <cstddef>
#include <cstdint>

#include "collectives/simd/pass_table.hpp"

namespace collmark::baseline {
namespace {

constexpr std::size_t kVectorBytes = 16;

#include "collectives/simd/vectors.ipp"

U32Lanes zero_extended(HalfLanes h) {
  const __m128i halves = _mm_cvtsi64_si128(__builtin_bit_cast(long long, h));
  return reinterpret_cast<U32Lanes>(_mm_unpacklo_epi16(halves, _mm_setzero_si128()));
}
/// SSE2 packs signed lanes only, and saturates: so the lower halves are sign-extended first.
HalfLanes low_halves(U32Lanes x) {
  const __m128i lanes = _mm_srai_epi32(_mm_slli_epi32(reinterpret_cast<__m128i>(x), 16), 16);
  return __builtin_bit_cast(HalfLanes, _mm_cvtsi128_si64(_mm_packs_epi32(lanes, lanes)));
}

template <class V>
void stream(std::byte* to, V v) {
  if constexpr (sizeof v == 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(v));
  else
    _mm_stream_si64(reinterpret_cast<long long*>(to), __builtin_bit_cast(long long, v));
}

#include "collectives/simd/bf16.ipp"
#include "collectives/simd/software_f16.ipp"

#include "collectives/simd/elements.ipp"
#include "collectives/simd/passes.ipp"

}  // namespace

extern const PassTable kPasses;
constinit const PassTable kPasses = all_passes();

}  // namespace collmark::baseline
