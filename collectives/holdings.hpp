/// Whose input is in which chunk of which rank, step after step: what a drawing shows.
#pragma once

#include <string>
#include <vector>

#include "collectives/promise.hpp"
#include "collectives/schedule.hpp"

namespace collmark {

/// Starts with what every rank holds before the first step. Memory: ranks x chunks x contributions,
/// so only for drawings; `verify` is the judge, and this one follows a wrong schedule too.
class Holdings {
 public:
  explicit Holdings(const Schedule& s);

  /// Executes one step. Steps must come in order.
  void advance(int step);

  /// In order, repeats included; empty if the chunk holds nothing.
  [[nodiscard]] const std::vector<Contribution>& at(int rank, int chunk) const;
  /// Did the last step write it?
  [[nodiscard]] bool written(int rank, int chunk) const;

  /// "." nothing; "sum" every contributor once; else the ranks whose inputs are added up, "013".
  /// all_to_all: "0>2", the block of rank 0 that is meant for rank 2.
  [[nodiscard]] std::string text(int rank, int chunk) const;

 private:
  [[nodiscard]] std::size_t index(int rank, int chunk) const;
  void receive(const Transfer& x, int i, const std::vector<std::vector<Contribution>>& before);
  void hear(const Transfer& x, const std::vector<std::vector<Contribution>>& before);

  const Schedule& s_;
  std::vector<std::vector<Contribution>> held_;  // [ranks x chunks]
  std::vector<bool> written_;                    // [ranks x chunks]
};

}  // namespace collmark
