/// A collective of MPI processes as measurement sees it: one rank's buffers, exact inputs and a check.
#pragma once

#include <span>

#include "bench/backend.hpp"
#include "bench/exact_data.hpp"
#include "bench/mpi/rank_work.hpp"
#include "bench/page_report.hpp"
#include "bench/watchdog.hpp"

namespace collmark {

class MpiOperation final : public Operation {
 public:
  /// `shape` says who holds and owes what.
  ///   Throws   Unsupported if the dtype holds no exact inputs for so many ranks.
  MpiOperation(const Schedule& shape, const Case& c, int rank, RankWork&& work);

  /// From then on evict() walks `memory`, and waits that nobody else bounds are `dog`'s.
  void attach(std::span<const std::byte> memory, Watchdog& dog);

  [[nodiscard]] OperationTraits traits() const override { return traits_; }
  void rewrite_input() override { data_.write_input(rank_, ++generation_, work_.where.input); }
  void run() override;
  [[nodiscard]] Check check() const override {
    return data_.check(rank_, generation_, work_.where.output);
  }
  void evict() override;
  [[nodiscard]] Moved moved() const override { return counted().value_or(Moved{}); }

  /// Empty for a library.
  [[nodiscard]] std::optional<Moved> counted() const { return work_.collective->moved(); }
  [[nodiscard]] std::byte* output() const { return work_.where.output; }
  [[nodiscard]] Buffers buffers() const;

 private:
  RankWork work_;
  std::size_t size_;  // [bytes] of a buffer
  ExactData data_;
  OperationTraits traits_;
  std::span<const std::byte> to_walk_;
  Watchdog* dog_ = nullptr;
  int rank_;
  int generation_ = 0;
};

}  // namespace collmark
