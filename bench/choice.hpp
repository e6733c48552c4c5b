/// Flags whose values are words from a fixed list.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/dtype.hpp"
#include "collectives/error.hpp"
#include "collectives/suggest.hpp"

namespace collmark {

/// Position of `text` in `names`. Throws Error{usage} with the flag, a did-you-mean and the whole
/// list.
[[nodiscard]] std::size_t choose_index(std::string_view flag, std::string_view text,
                                       const std::vector<std::string>& names);

/// The enumerator called `text`: choose("--dtype", "f32", kDtypes). Never falls back to a default.
template <class Enum, std::size_t N>
[[nodiscard]] Enum choose(std::string_view flag, std::string_view text,
                          const std::array<Enum, N>& values) {
  std::vector<std::string> names;
  names.reserve(N);
  for (const Enum value : values) names.emplace_back(name(value));
  return values[choose_index(flag, text, names)];
}

/// The words of `a,b,c`. Throws Error{usage} for an empty word.
[[nodiscard]] std::vector<std::string> split_list(std::string_view flag, std::string_view text);

/// The enumerators called `a,b,c`, each once.
template <class Enum, std::size_t N>
[[nodiscard]] std::vector<Enum> choose_all(std::string_view flag, const std::string& text,
                                           const std::array<Enum, N>& values) {
  std::vector<Enum> chosen;
  for (const std::string& word : split_list(flag, text)) {
    const Enum value = choose(flag, word, values);
    if (std::find(chosen.begin(), chosen.end(), value) == chosen.end()) chosen.push_back(value);
  }
  return chosen;
}

}  // namespace collmark
