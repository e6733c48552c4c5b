/// Lines: data that carry their flags. Every 4 bytes of data travel with a 4-byte flag in one 8-byte store, so that whoever
/// reads them sees whether they have come: no flag of its own, no barrier before it.
///
///   line    | data 0 | flag | data 1 | flag |      16 bytes, two 8-byte words: both flags count
///
///   Who sends and who receives agree on the flag beforehand: a count that differs from whatever the line has held so far.
///   Source    NCCL 2.x, protocol LL; Hu et al. 2025, "Demystifying NCCL", arXiv 2507.04786.
#pragma once

#include <cstring>

#include "kernels/flag.hpp"
#include "kernels/pass.hpp"

namespace collmark {

inline constexpr std::int64_t kLineBytes = 16, kDataOfLine = 8;

/// The data of a line.
template <class T>
using LineData = Pack<T, kDataOfLine>;

/// That `count` elements fill.
template <class T>
COLLMARK_DEVICE std::int64_t lines_of(std::int64_t count) {
  return (count + LineData<T>::kSize - 1) / LineData<T>::kSize;
}
/// Bytes of them, and of the elements alone.
template <class T>
COLLMARK_DEVICE std::int64_t line_bytes(std::int64_t count) {
  return kLineBytes * lines_of<T>(count);
}
template <class T>
COLLMARK_DEVICE std::int64_t data_bytes(std::int64_t count) {
  return count * static_cast<std::int64_t>(sizeof(T));
}
/// Line `i` of those that begin there.
COLLMARK_DEVICE std::uint64_t* line_at(std::uint64_t* first, std::int64_t i) {
  return first + i * (kLineBytes / 8);
}

/// What line `i` of a run of elements carries; zeros beyond its end.
template <class T>
COLLMARK_DEVICE LineData<T> word_of(const T* data, std::int64_t i, std::int64_t count) {
  LineData<T> word{};
  for (int k = 0; k < LineData<T>::kSize; ++k)
    if (i * LineData<T>::kSize + k < count) word.element[k] = data[i * LineData<T>::kSize + k];
  return word;
}
template <class T>
COLLMARK_DEVICE void put(const LineData<T>& word, T* data, std::int64_t i, std::int64_t count) {
  for (int k = 0; k < LineData<T>::kSize; ++k)
    if (i * LineData<T>::kSize + k < count) data[i * LineData<T>::kSize + k] = word.element[k];
}

template <class T>
COLLMARK_DEVICE void send_word(const LineData<T>& word, std::uint64_t* line, std::uint32_t flag) {
  std::uint64_t data;
  std::memcpy(&data, &word, sizeof data);
  const std::uint64_t above = std::uint64_t{flag} << 32;
  store_words(line, (data & 0xffffffff) | above, (data >> 32) | above);
}

/// The data of a line when it has come; false if it never does.
template <class T>
COLLMARK_DEVICE bool receive_word(std::uint64_t* line, std::uint32_t flag, const Patience& patience,
                                  LineData<T>* word) {
  std::uint64_t a, b;
  const auto look = [&] {
    load_words(line, &a, &b);
    return Found{a >> 32 == flag && b >> 32 == flag, flag_of_both(a, b, flag)};
  };
  if (!wait_until(look, flag, patience)) return false;
  const std::uint64_t data = (a & 0xffffffff) | b << 32;
  std::memcpy(word, &data, sizeof data);
  return true;
}

}  // namespace collmark
