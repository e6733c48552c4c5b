#include "bench/mpi/mpi_operation.hpp"

#include <utility>

#include "bench/cache_walk.hpp"

namespace collmark {

MpiOperation::MpiOperation(const Schedule& shape, const Case& c, int rank, RankWork&& work)
    : work_(std::move(work)),
      size_(static_cast<std::size_t>(c.size().value)),
      data_(shape, {c.count, c.dtype, c.op}),
      traits_{.synchronising = synchronises(c.collective),
              .keeps_input = c.placement == Placement::out_of_place},
      rank_(rank) {}

void MpiOperation::attach(std::span<const std::byte> memory, Watchdog& dog) {
  to_walk_ = memory;
  dog_ = &dog;
}

Buffers MpiOperation::buffers() const {
  const auto [input, output] = work_.where;
  if (input == output) return {{input, size_}};
  return {{input, size_}, {output, size_}};
}

void MpiOperation::run() {
  const char* const wait = dog_ == nullptr ? nullptr : work_.collective->unbounded_wait();
  if (wait != nullptr) dog_->enter(wait);
  work_.collective->run();
  if (wait != nullptr) dog_->leave();
}

void MpiOperation::evict() { walk(to_walk_); }

}  // namespace collmark
