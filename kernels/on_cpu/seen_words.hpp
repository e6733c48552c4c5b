/// Flags whose scope is narrower than who shares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/platform.hpp"

namespace collmark::grid {

/// Which ranks touched a flag, and how. Allocated once: on a fiber the heap is ThreadSanitizer's business.
class SeenWords {
 public:
  SeenWords() : words_(kSize) {}

  /// True if two ranks share the word and somebody used a narrow scope.
  bool note(const void* word, int rank, Scope scope) {
    std::size_t i = reinterpret_cast<std::uintptr_t>(word) / 4 * 0x9e3779b97f4a7c15U % kSize;
    while (words_[i].address != nullptr && words_[i].address != word) i = (i + 1) % kSize;
    Word& seen = words_[i];
    if (seen.address == nullptr) seen = {.address = word, .rank = rank};
    seen.shared |= seen.rank != rank;
    seen.narrow |= scope != Scope::system;
    return seen.shared && seen.narrow;
  }

 private:
  static constexpr std::size_t kSize = 1 << 16;  // more than there are flags in any test
  struct Word {
    const void* address = nullptr;
    int rank = 0;
    bool shared = false, narrow = false;
  };
  std::vector<Word> words_;
};

}  // namespace collmark::grid
