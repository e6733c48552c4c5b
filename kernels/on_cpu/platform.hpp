/// platform.hpp for g++: flags are std::atomic_ref, threads and blocks those of grid.hpp.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>

#include "collectives/half.hpp"
#include "kernels/on_cpu/grid.hpp"
#include "kernels/on_cpu/observer.hpp"

#define COLLMARK_KERNEL inline
#define COLLMARK_DEVICE inline
#define COLLMARK_UNROLL

/// Memory of the block; its place in the source is known by what no other place has, an object of its own.
#define COLLMARK_SHARED(T, name, count)  \
  static const char place_of_##name = 0; \
  T* const name =                        \
      reinterpret_cast<T*>(::collmark::grid::shared_memory(&place_of_##name, sizeof(T) * (count)))

namespace collmark {

inline int thread_index() { return grid::index().lane; }
inline int thread_count() { return grid::index().lanes; }
inline int block_index() { return grid::index().block; }
inline void block_barrier() { grid::block_barrier(); }
inline bool block_all(bool said) { return grid::block_all(said); }

inline constexpr grid::Scope kFlagScope = grid::Scope::system;

inline std::uint32_t load_acquire(std::uint32_t* word) {
  grid::at_flag(word, kFlagScope);
  return std::atomic_ref(*word).load(std::memory_order_acquire);
}
inline std::uint32_t load_relaxed(std::uint32_t* word) {
  grid::at_flag(word, kFlagScope);
  return std::atomic_ref(*word).load(std::memory_order_relaxed);
}
inline void store_release(std::uint32_t* word, std::uint32_t value) {
  grid::at_flag(word, kFlagScope);
  grid::progress();
  std::atomic_ref(*word).store(value, std::memory_order_release);
}
inline bool claim(std::uint32_t* word) {
  grid::at_flag(word, kFlagScope);
  std::uint32_t free = 0;
  return std::atomic_ref(*word).compare_exchange_strong(free, 1, std::memory_order_relaxed);
}

inline void store_words(std::uint64_t* line, std::uint64_t a, std::uint64_t b) {
  grid::at_flag(&line[0], kFlagScope);
  grid::progress();
  std::atomic_ref(line[0]).store(a, std::memory_order_relaxed);
  grid::at_flag(&line[1], kFlagScope);
  std::atomic_ref(line[1]).store(b, std::memory_order_relaxed);
}
inline void load_words(std::uint64_t* line, std::uint64_t* a, std::uint64_t* b) {
  grid::at_flag(&line[0], kFlagScope);
  *a = std::atomic_ref(line[0]).load(std::memory_order_relaxed);
  grid::at_flag(&line[1], kFlagScope);
  *b = std::atomic_ref(line[1]).load(std::memory_order_relaxed);
}

inline void store_word(std::uint64_t* word, std::uint64_t a) {
  grid::at_flag(word, kFlagScope);
  grid::progress();
  std::atomic_ref(*word).store(a, std::memory_order_relaxed);
}
inline std::uint64_t load_word(std::uint64_t* word) {
  grid::at_flag(word, kFlagScope);
  return std::atomic_ref(*word).load(std::memory_order_relaxed);
}

inline bool is_nan(float x) { return std::isnan(x); }
inline bool is_nan(double x) { return std::isnan(x); }
inline std::uint32_t to_bits(float x) { return std::bit_cast<std::uint32_t>(x); }
inline std::uint64_t to_bits(double x) { return std::bit_cast<std::uint64_t>(x); }
inline float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline double from_bits(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline float half_to_float(std::uint16_t bits) { return to_float(F16{bits}); }
inline std::uint16_t float_to_half(float x) { return to_f16(x).bits; }
inline float quotient(float a, float b) { return a / b; }
inline double quotient(double a, double b) { return a / b; }

// The core is given away after every look, which costs more than to ask for the time, and on a busy machine much more.
inline constexpr std::uint32_t kLooksPerReading = 1;
inline std::int64_t nanoseconds() { return grid::nanoseconds(); }

inline void stay(const FlagWait& wait) { grid::pause_lane(wait); }
inline void progress() { grid::progress(); }
inline void note_pass(std::int64_t loads, std::int64_t stores) {
  if (Observer* watching = observer()) watching->pass(loads, stores);
}
inline bool notes_transfers() { return observer() != nullptr; }
inline void note_transfer(const MovedPart& part) {
  if (Observer* watching = observer()) watching->transfer(part);
}

}  // namespace collmark
