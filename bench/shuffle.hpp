/// An order that a seed decides, the same with every standard library.
#pragma once

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace collmark {

/// Fisher and Yates, spelt out: std::shuffle may differ from one library to the next.
template <class T>
void shuffle(std::vector<T>& items, std::mt19937_64& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

}  // namespace collmark
