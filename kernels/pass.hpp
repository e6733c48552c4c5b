/// One pass over a run of elements by all threads of a block: combine the sources in list order, store the result to
/// every destination.
///
///     peeled     packs of 16 bytes                              rest
///   ..| x x x |[........][........][........] ... [........]| x x |
///
/// Pointers that all lie alike within 16 bytes are moved in packs, whatever offset that is; if they do not, element
/// by element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/arithmetic.hpp"
#include "kernels/platform.hpp"

namespace collmark {

template <class T, int kBytes = 16>
struct alignas(kBytes) Pack {
  static constexpr int kSize = kBytes / sizeof(T);
  T element[kSize];
};

/// What is done to the elements: combined, and divided (avg) when the value is complete.
struct Reduction {
  Operator op = Operator::sum;
  int divisor =
      0;  // of a complete value; 0: it is not divided. By 1 it is: NaNs become the one that there is
};

enum class Value { partial, complete };

/// As many pointers as the code says: loops over them are unrolled.
template <class T, int kCount>
struct Few {
  T* pointer[kCount + (kCount == 0 ? 1 : 0)];  // no array is empty
  static constexpr COLLMARK_DEVICE int count() { return kCount; }
  COLLMARK_DEVICE T* operator[](int i) const { return pointer[i]; }
};

/// As many as the run says.
template <class T>
struct Many {
  T* const* pointers;
  int size;
  COLLMARK_DEVICE int count() const { return size; }
  COLLMARK_DEVICE T* operator[](int i) const { return pointers[i]; }
};

/// Those of a list: Few if kCount says how many there are, Many if it is negative.
template <int kCount, class To, class T>
COLLMARK_DEVICE auto listed(T* const* list, int count) {
  if constexpr (kCount < 0) {
    return Many<To>{list, count};
  } else {
    Few<To, kCount> few;
    for (int i = 0; i < kCount; ++i) few.pointer[i] = list[i];
    return few;
  }
}

/// Element `offset` of what a list of addresses names.
template <class T>
struct OfAddresses {
  std::byte* const* addresses;
  std::int64_t offset;
  int size;
  COLLMARK_DEVICE int count() const { return size; }
  COLLMARK_DEVICE T* operator[](int i) const { return reinterpret_cast<T*>(addresses[i]) + offset; }
};
template <int kCount, class T>
COLLMARK_DEVICE Few<T, kCount> few(const OfAddresses<T>& all) {
  Few<T, kCount> some;
  for (int i = 0; i < kCount; ++i) some.pointer[i] = all[i];
  return some;
}

/// Element `offset` of the buffers of ranks [first, last).
template <class T>
struct OfRanks {
  std::byte* const* buffers;
  std::int64_t offset;
  int first, last;
  COLLMARK_DEVICE int count() const { return last - first; }
  COLLMARK_DEVICE T* operator[](int i) const {
    return reinterpret_cast<T*>(buffers[first + i]) + offset;
  }
};

template <class T>
COLLMARK_DEVICE T combined_units(Operator op, const T& a, const T& b) {
  return combined(op, a, b);
}
template <class T, int kBytes>
COLLMARK_DEVICE Pack<T, kBytes> combined_units(Operator op, const Pack<T, kBytes>& a,
                                               const Pack<T, kBytes>& b) {
  Pack<T, kBytes> sum;
  COLLMARK_UNROLL
  for (int k = 0; k < Pack<T, kBytes>::kSize; ++k)
    sum.element[k] = combined(op, a.element[k], b.element[k]);
  return sum;
}
template <class T>
COLLMARK_DEVICE T divided_unit(const T& x, int divisor) {
  return divided(x, divisor);
}
template <class T, int kBytes>
COLLMARK_DEVICE Pack<T, kBytes> divided_unit(Pack<T, kBytes> x, int divisor) {
  COLLMARK_UNROLL
  for (int k = 0; k < Pack<T, kBytes>::kSize; ++k) x.element[k] = divided(x.element[k], divisor);
  return x;
}

/// Units that a thread has under way at once. What a memory moves is what is under way over its latency (Little's law):
/// 4.8 TB/s (H200's data sheet) times 0.7 us (a guess) are 3 MB, and one load of 16 bytes by each of 512 threads of 128
/// blocks is 1 MB. Short elements are computed with in registers of their own: more of them would leave none for
/// kKernelThreads threads.
template <class T>
inline constexpr int kBatch = sizeof(T) < 4 ? static_cast<int>(sizeof(T)) : 4;

/// The units of one thread: number `i` from element `first` on, and every `apart`-th after it.
struct Strided {
  std::int64_t first, i, apart;
  template <class Unit, class T>
  COLLMARK_DEVICE auto& unit(T* begin, int u) const {
    using Seen = std::conditional_t<std::is_const_v<T>, const Unit, Unit>;
    return reinterpret_cast<Seen*>(begin + first)[i + u * apart];
  }
};

/// Units i, i + thread_count() and so on, kUnits of them: all loads of a source before anything is done with them.
template <class Unit, int kUnits, class Sources, class Destinations>
COLLMARK_DEVICE void pass_batch(const Sources& from, const Destinations& to, const Strided& at,
                                const Reduction& what, Value value) {
  Unit x[kUnits];
  auto* source = from[0];  // which may lie in memory: read once
  COLLMARK_UNROLL
  for (int u = 0; u < kUnits; ++u) x[u] = at.unit<Unit>(source, u);
  for (int s = 1; s < from.count(); ++s) {
    Unit y[kUnits];
    source = from[s];
    COLLMARK_UNROLL
    for (int u = 0; u < kUnits; ++u) y[u] = at.unit<Unit>(source, u);
    by_operator(what.op, [&](auto op) {
      COLLMARK_UNROLL
      for (int u = 0; u < kUnits; ++u) x[u] = combined_units(op.value, x[u], y[u]);
    });
  }
  if (value == Value::complete && what.divisor > 0) {
    COLLMARK_UNROLL
    for (int u = 0; u < kUnits; ++u) x[u] = divided_unit(x[u], what.divisor);
  }
  for (int d = 0; d < to.count(); ++d) {
    auto* const destination = to[d];
    COLLMARK_UNROLL
    for (int u = 0; u < kUnits; ++u) at.unit<Unit>(destination, u) = x[u];
  }
}

/// `count` units, elements or packs, from element `first` on; a thread takes every thread_count()-th.
template <class Unit, int kUnits, class Sources, class Destinations>
COLLMARK_DEVICE void pass_units(const Sources& from, const Destinations& to, std::int64_t first,
                                std::int64_t count, const Reduction& what, Value value) {
  const std::int64_t apart = thread_count();
  std::int64_t i = thread_index();
  for (; i + (kUnits - 1) * apart < count; i += kUnits * apart)
    pass_batch<Unit, kUnits>(from, to, {first, i, apart}, what, value);
  if constexpr (kUnits > 1)
    for (; i < count; i += apart) pass_batch<Unit, 1>(from, to, {first, i, apart}, what, value);
}

/// Elements before the first whole pack; all of them if the pointers do not lie alike.
template <class T, class Sources, class Destinations>
COLLMARK_DEVICE std::int64_t peeled(const Sources& from, const Destinations& to,
                                    std::int64_t count) {
  const auto lie = [](const T* p) { return reinterpret_cast<std::uintptr_t>(p) % 16; };
  const std::uintptr_t first = lie(from[0]);
  bool alike = true;
  for (int i = 1; i < from.count(); ++i) alike &= lie(from[i]) == first;
  for (int i = 0; i < to.count(); ++i) alike &= lie(to[i]) == first;
  const auto head = static_cast<std::int64_t>((16 - first) % 16 / sizeof(T));
  return alike && head < count ? head : count;
}

/// By all threads of the block, who must meet before and after.
template <class T, class Sources, class Destinations>
COLLMARK_DEVICE void pass(const Sources& from, const Destinations& to, std::int64_t count,
                          const Reduction& what, Value value) {
  constexpr std::int64_t kBytes = sizeof(T);
  const std::int64_t head = peeled<T>(from, to, count);
  const std::int64_t packs = (count - head) / Pack<T>::kSize;
  const std::int64_t rest = head + packs * Pack<T>::kSize;
  if (thread_index() == 0) note_pass(count * from.count() * kBytes, count * to.count() * kBytes);
  pass_units<T, 1>(from, to, 0, head, what, value);
  pass_units<Pack<T>, kBatch<T>>(from, to, head, packs, what, value);
  pass_units<T, 1>(from, to, rest, count - rest, what, value);
}

}  // namespace collmark
