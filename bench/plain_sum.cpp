#include "bench/plain_sum.hpp"

#include "bench/vector_sum.hpp"

namespace collmark {
namespace {

void one_by_one(std::span<const float* const> sources, std::span<float* const> destinations,
                std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    float sum = sources[0][i];
    for (std::size_t k = 1; k < sources.size(); ++k) sum += sources[k][i];
    for (float* const out : destinations) out[i] = sum;
  }
}

}  // namespace

void plain_sum(std::span<const float* const> sources, std::span<float* const> destinations,
               std::size_t count, Stores stores) {
  const Covered covered = vector_sum(sources, destinations, count, stores);
  one_by_one(sources, destinations, 0, covered.from);
  one_by_one(sources, destinations, covered.to, count);
}

}  // namespace collmark
