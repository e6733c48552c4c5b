#include "bench/variant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "bench/library_name.hpp"
#include "bench/pick.hpp"
#include "collectives/error.hpp"
#include "collectives/suggest.hpp"

namespace collmark {

namespace {

constexpr std::array kSlashed{Variant::window, Variant::links, Variant::low_latency,
                              Variant::simple};
constexpr std::string_view kInterpreted = "_interpreted";
constexpr std::string_view kGraph = "graph", kSlashGraph = "/graph";

/// Of `double_binary_tree_interpreted:3` the parameter stays where it is.
std::size_t end_of_name(std::string_view text) { return std::min(text.find(':'), text.size()); }

}  // namespace

std::string_view name(Variant variant) {
  constexpr std::array<std::string_view, 6> kNames{"",   "window", "links",
                                                   "LL", "simple", "interpreted"};
  return kNames[static_cast<std::size_t>(variant)];
}

std::string joined(std::string_view algorithm, Variant variant, Launching launching) {
  if (launching == Launching::graph) return joined(algorithm, variant).append(kSlashGraph);
  if (variant == Variant::plain) return std::string(algorithm);
  if (variant != Variant::interpreted) return fmt::format("{}/{}", algorithm, name(variant));
  const std::size_t end = end_of_name(algorithm);
  return fmt::format("{}{}{}", algorithm.substr(0, end), kInterpreted, algorithm.substr(end));
}

AlgorithmVariant split_variant(std::string_view text) {
  if (is_library(text)) return {.algorithm = std::string(text)};
  if (text.ends_with(kSlashGraph)) {
    AlgorithmVariant rest = split_variant(text.substr(0, text.size() - kSlashGraph.size()));
    rest.launching = Launching::graph;
    return rest;
  }
  const std::string_view base = text.substr(0, end_of_name(text));
  if (base.ends_with(kInterpreted))
    return {.algorithm = fmt::format("{}{}", base.substr(0, base.size() - kInterpreted.size()),
                                     text.substr(base.size())),
            .variant = Variant::interpreted};
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return {.algorithm = std::string(text)};
  const std::string_view word = text.substr(slash + 1);
  std::vector<std::string> known{std::string(kGraph)};
  for (const Variant variant : kSlashed) {
    if (word == name(variant))
      return {.algorithm = std::string(text.substr(0, slash)), .variant = variant};
    known.emplace_back(name(variant));
  }
  if (is_file(text)) return {.algorithm = std::string(text)};
  throw Error(ErrorKind::usage,
              fmt::format("'{}': no variant is called '{}'{}; there are: {}", text, word,
                          did_you_mean(word, known), fmt::join(known, ", ")));
}

}  // namespace collmark
