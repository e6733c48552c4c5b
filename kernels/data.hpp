/// Makes the inputs of a measurement and checks its results where they lie, so that nothing but a verdict crosses the
/// bus.
///
/// Values repeat: position i of a run holds element (phase + i) mod period of a pattern. Which patterns, and what
/// they have to do with the collective, is the caller's business. Elements are bits here, and equal or not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/platform.hpp"

namespace collmark {

/// A run of elements and the pattern that it holds, or should hold.
struct Stretch {
  std::byte* begin = nullptr;
  std::int64_t count = 0;              // elements
  const std::byte* pattern = nullptr;  // `period` elements
  std::int64_t period = 1;
  std::int64_t phase = 0;  // in [0, period)
};

struct Fill {
  Stretch values;
  int blocks = 1;  // of the launch
};

/// What one block found.
struct WrongCount {
  std::int64_t wrong;  // elements
  std::int64_t first;  // position of the first, if there is one
};

struct Comparison {
  Stretch values;
  int blocks = 1;                  // of the launch
  WrongCount* verdicts = nullptr;  // [block]; overwritten
};

/// visit(position, element of the pattern) for the positions of one thread of the launch.
template <class T, class Visit>
COLLMARK_DEVICE void for_each_of_thread(const Stretch& values, int blocks, Visit visit) {
  const auto* const pattern = reinterpret_cast<const T*>(values.pattern);
  const std::int64_t first =
      static_cast<std::int64_t>(block_index()) * thread_count() + thread_index();
  const std::int64_t stride = static_cast<std::int64_t>(blocks) * thread_count();
  const std::int64_t step = stride % values.period;  // no division in the loop
  std::int64_t phase = (values.phase + first) % values.period;
  for (std::int64_t i = first; i < values.count; i += stride) {
    visit(i, pattern[phase]);
    phase += step;
    if (phase >= values.period) phase -= values.period;
  }
}

template <class T>
COLLMARK_KERNEL void write_values(const Fill& what) {
  auto* const to = reinterpret_cast<T*>(what.values.begin);
  for_each_of_thread<T>(what.values, what.blocks, [=](std::int64_t i, T value) { to[i] = value; });
}

template <class T>
COLLMARK_KERNEL void compare_values(const Comparison& what) {
  constexpr int kMostThreads = 1024;  // of a block, on any GPU
  COLLMARK_SHARED(WrongCount, of_thread, kMostThreads);
  const auto* const got = reinterpret_cast<const T*>(what.values.begin);
  WrongCount mine{0, 0};
  for_each_of_thread<T>(what.values, what.blocks, [&](std::int64_t i, T expected) {
    if (got[i] == expected) return;
    if (mine.wrong == 0) mine.first = i;
    ++mine.wrong;
  });
  of_thread[thread_index()] = mine;
  block_barrier();
  if (thread_index() != 0) return;
  for (int t = 1; t < thread_count(); ++t) {
    const WrongCount other = of_thread[t];
    if (other.wrong == 0) continue;
    if (mine.wrong == 0 || other.first < mine.first) mine.first = other.first;
    mine.wrong += other.wrong;
  }
  what.verdicts[block_index()] = mine;
}

}  // namespace collmark
