/// The passes and their choice on a CPU that is no x86-64: one set, vectors of 16 bytes that the
/// compiler lowers to what the CPU has, ordinary stores.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collectives/simd/pass_table.hpp"

namespace collmark {
namespace {

constexpr std::size_t kVectorBytes = 16;

#include "collectives/simd/vectors.ipp"

U32Lanes zero_extended(HalfLanes h) { return __builtin_convertvector(h, U32Lanes); }
HalfLanes low_halves(U32Lanes x) { return __builtin_convertvector(x, HalfLanes); }

template <class V>
void stream(std::byte* to, V v) {
  __builtin_memcpy(to, &v, sizeof v);
}

#include "collectives/simd/bf16.ipp"
#include "collectives/simd/software_f16.ipp"

#include "collectives/simd/elements.ipp"
#include "collectives/simd/passes.ipp"

constexpr PassTable kPasses = all_passes();

}  // namespace

const PassTable* pass_table(InstructionSet set) {
  return set == InstructionSet::baseline ? &kPasses : nullptr;
}

void streaming_fence() { std::atomic_thread_fence(std::memory_order_release); }

}  // namespace collmark
