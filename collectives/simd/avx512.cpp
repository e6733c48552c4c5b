/// The passes for AVX-512 (x86-64-v4). Everything but kPasses is local to this file: code compiled
/// for one instruction set must never stand in for another's.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "collectives/simd/pass_table.hpp"

namespace collmark::avx512 {
namespace {

constexpr std::size_t kVectorBytes = 64;

#include "collectives/simd/vectors.ipp"

U32Lanes zero_extended(HalfLanes h) {
  return reinterpret_cast<U32Lanes>(_mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(h)));
}
HalfLanes low_halves(U32Lanes x) {
  return reinterpret_cast<HalfLanes>(_mm512_cvtepi32_epi16(reinterpret_cast<__m512i>(x)));
}

template <class V>
void stream(std::byte* to, V v) {
  if constexpr (sizeof v == 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(v));
  else
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(v));
}

F32Lanes f16_to_f32(HalfLanes h) {
  return reinterpret_cast<F32Lanes>(_mm512_cvtph_ps(reinterpret_cast<__m256i>(h)));
}
HalfLanes f32_to_f16(F32Lanes x) {
  return reinterpret_cast<HalfLanes>(
      _mm512_cvtps_ph(reinterpret_cast<__m512>(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

#include "collectives/simd/bf16.ipp"

#include "collectives/simd/elements.ipp"
#include "collectives/simd/passes.ipp"

}  // namespace

extern const PassTable kPasses;
constinit const PassTable kPasses = all_passes();

}  // namespace collmark::avx512
