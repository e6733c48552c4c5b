#include "bench/variant.hpp"

#include <fmt/format.h>

#include "bench/library_name.hpp"
#include "bench/pick.hpp"
#include "collectives/error.hpp"
#include "collectives/suggest.hpp"

namespace collmark {

std::string_view name(Variant variant) { return variant == Variant::window ? "window" : ""; }

std::string joined(std::string_view algorithm, Variant variant) {
  if (variant == Variant::plain) return std::string(algorithm);
  return fmt::format("{}/{}", algorithm, name(variant));
}

AlgorithmVariant split_variant(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || is_library(text)) return {.algorithm = std::string(text)};
  const std::string_view word = text.substr(slash + 1);
  if (word == name(Variant::window))
    return {.algorithm = std::string(text.substr(0, slash)), .variant = Variant::window};
  if (is_file(text)) return {.algorithm = std::string(text)};
  throw Error(
      ErrorKind::usage,
      fmt::format("'{}': no variant is called '{}'{}; there is: {}", text, word,
                  did_you_mean(word, {std::string(name(Variant::window))}), name(Variant::window)));
}

}  // namespace collmark
