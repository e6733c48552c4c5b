#include "bench/formula.hpp"

#include "bench/variant.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/cost.hpp"

namespace collmark {

std::optional<ClosedForm> closed_form_of(const Case& c, const LinkCost& link) {
  if (c.algorithm.starts_with("library") || c.algorithm.starts_with("file:")) return std::nullopt;
  const AlgorithmName algorithm =
      resolve(c.collective, split_variant(c.algorithm).algorithm, c.ranks);
  return closed_form({.collective = c.collective,
                      .algorithm = algorithm.base,
                      .numbers = algorithm.numbers,
                      .ranks = c.ranks,
                      .count = c.count,
                      .dtype = c.dtype,
                      .link = link});
}

std::optional<Seconds> model_time(const Case& c, const LinkCost& link) {
  if (c.algorithm.starts_with("library")) return std::nullopt;
  try {
    const std::string algorithm = split_variant(c.algorithm).algorithm;
    return cost(build(c.collective, algorithm, c.ranks, c.root), c.count, c.dtype, link).time;
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

}  // namespace collmark
