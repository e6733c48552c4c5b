/// Vectors of eight floats, where the CPU has AVX2.
#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#include "bench/vector_sum.hpp"

namespace collmark {
namespace {

/// Elements [from, to), whole vectors of eight; returns where it ended.
template <Stores stores>
__attribute__((target("avx2"))) std::size_t eight_at_once(std::span<const float* const> sources,
                                                          std::span<float* const> destinations,
                                                          std::size_t from, std::size_t to) {
  for (; to - from >= 8; from += 8) {
    __m256 sum = _mm256_loadu_ps(sources[0] + from);
    for (std::size_t k = 1; k < sources.size(); ++k)
      sum = _mm256_add_ps(sum, _mm256_loadu_ps(sources[k] + from));
    for (float* const out : destinations)
      stores == Stores::streaming ? _mm256_stream_ps(out + from, sum)
                                  : _mm256_storeu_ps(out + from, sum);
  }
  _mm_sfence();
  return from;
}

/// Floats until all destinations are aligned for streaming; `count` if they never are together.
std::size_t until_aligned(std::span<float* const> destinations, std::size_t count) {
  const auto misaligned = [](const float* p) { return reinterpret_cast<std::uintptr_t>(p) % 32; };
  const std::size_t first = misaligned(destinations[0]);
  for (const float* const out : destinations)
    if (misaligned(out) != first) return count;
  return first == 0 ? 0 : std::min(count, (32 - first) / sizeof(float));
}

}  // namespace

Covered vector_sum(std::span<const float* const> sources, std::span<float* const> destinations,
                   std::size_t count, Stores stores) {
  if (!__builtin_cpu_supports("avx2")) return {};
  if (stores == Stores::cached)
    return {0, eight_at_once<Stores::cached>(sources, destinations, 0, count)};
  const std::size_t from = until_aligned(destinations, count);
  return {from, eight_at_once<Stores::streaming>(sources, destinations, from, count)};
}

}  // namespace collmark
