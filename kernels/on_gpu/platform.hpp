/// platform.hpp for nvcc: flags are cuda::atomic_ref of system scope.
#pragma once

#include <cuda_fp16.h>
#include <cuda/atomic>

#include <cstdint>

#include "kernels/flag_wait.hpp"
#include "kernels/moved_part.hpp"

#define COLLMARK_KERNEL __device__ __forceinline__
#define COLLMARK_DEVICE __device__ __forceinline__
#define COLLMARK_UNROLL _Pragma("unroll")
#define COLLMARK_SHARED(T, name, count) __shared__ T name[count]

/// Set by the host for a launch that is counted, and not timed; zeros in all others.
extern "C" {
__constant__ collmark::TransferCounts collmark_transfer_counts;
}

namespace collmark {

COLLMARK_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
COLLMARK_DEVICE int thread_count() { return static_cast<int>(blockDim.x); }
COLLMARK_DEVICE int block_index() { return static_cast<int>(blockIdx.x); }
COLLMARK_DEVICE void block_barrier() { __syncthreads(); }
COLLMARK_DEVICE bool block_all(bool said) { return __syncthreads_and(said ? 1 : 0) != 0; }

template <class T>
using OfSystem = cuda::atomic_ref<T, cuda::thread_scope_system>;
using Flag = OfSystem<std::uint32_t>;
using Word = OfSystem<std::uint64_t>;

COLLMARK_DEVICE std::uint32_t load_acquire(std::uint32_t* word) {
  return Flag(*word).load(cuda::memory_order_acquire);
}
COLLMARK_DEVICE std::uint32_t load_relaxed(std::uint32_t* word) {
  return Flag(*word).load(cuda::memory_order_relaxed);
}
COLLMARK_DEVICE void store_release(std::uint32_t* word, std::uint32_t value) {
  Flag(*word).store(value, cuda::memory_order_release);
}
COLLMARK_DEVICE bool claim(std::uint32_t* word) {
  std::uint32_t free = 0;
  return Flag(*word).compare_exchange_strong(free, 1, cuda::memory_order_relaxed);
}

// PTX orders a vector access as one access per element, so this is exactly two relaxed stores of 8 bytes.
COLLMARK_DEVICE void store_words(std::uint64_t* line, std::uint64_t a, std::uint64_t b) {
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(line), "l"(a), "l"(b)
               : "memory");
}
COLLMARK_DEVICE void load_words(std::uint64_t* line, std::uint64_t* a, std::uint64_t* b) {
  asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(*a), "=l"(*b)
               : "l"(line)
               : "memory");
}

COLLMARK_DEVICE void store_word(std::uint64_t* word, std::uint64_t a) {
  Word(*word).store(a, cuda::memory_order_relaxed);
}
COLLMARK_DEVICE std::uint64_t load_word(std::uint64_t* word) {
  return Word(*word).load(cuda::memory_order_relaxed);
}

COLLMARK_DEVICE bool is_nan(float x) { return isnan(x); }
COLLMARK_DEVICE bool is_nan(double x) { return isnan(x); }
COLLMARK_DEVICE std::uint32_t to_bits(float x) { return __float_as_uint(x); }
COLLMARK_DEVICE std::uint64_t to_bits(double x) {
  return static_cast<std::uint64_t>(__double_as_longlong(x));
}
COLLMARK_DEVICE float from_bits(std::uint32_t bits) { return __uint_as_float(bits); }
COLLMARK_DEVICE double from_bits(std::uint64_t bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}
COLLMARK_DEVICE float half_to_float(std::uint16_t bits) {
  return __half2float(__ushort_as_half(bits));
}
COLLMARK_DEVICE std::uint16_t float_to_half(float x) {
  return __half_as_ushort(__float2half_rn(x));
}
COLLMARK_DEVICE float quotient(float a, float b) { return __fdiv_rn(a, b); }
COLLMARK_DEVICE double quotient(double a, double b) { return __ddiv_rn(a, b); }

// Each is a trip to memory, so all together about a millisecond. Source: PTX ISA 9.0, "%globaltimer".
inline constexpr std::uint32_t kLooksPerReading = 1024;
COLLMARK_DEVICE std::int64_t nanoseconds() {
  std::int64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

COLLMARK_DEVICE void stay(const FlagWait&) {}
COLLMARK_DEVICE void progress() {}
COLLMARK_DEVICE void note_pass(std::int64_t, std::int64_t) {}
COLLMARK_DEVICE bool notes_transfers() { return collmark_transfer_counts.elements != nullptr; }
COLLMARK_DEVICE void note_transfer(const MovedPart& part) {
  if (notes_transfers())
    atomicAdd(
        &collmark_transfer_counts.elements[part.src * collmark_transfer_counts.ranks + part.dst],
        static_cast<unsigned long long>(part.count));
}

}  // namespace collmark
