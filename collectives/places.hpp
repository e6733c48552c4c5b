/// In which memory each version of each chunk lies, so that no step has to copy what it is about to read.
///
///   versions of a chunk      v0       v1        v2
///   none is contested        input    output    output
///   v1 is                    input    scratch   output    v2 is written while others still read v1
///   v0 is, in place          scratch  output    output    saved first: input and output are one buffer
#pragma once

#include <vector>

#include "collectives/dataflow.hpp"
#include "collectives/schedule.hpp"

namespace collmark {

/// Where a version lies: the caller's two buffers, and up to two of the executor's own.
enum class Place : unsigned char { input, output, scratch, spare };
inline constexpr int kPlaces = 4;

class Places {
 public:
  Places(const Schedule& s, const Dataflow& flow, Placement placement);

  /// An input that must be copied away before the first step, from here to `of(version)`.
  struct Saved {
    int version;
    Place from;
  };

  [[nodiscard]] Place of(int version) const { return place_[static_cast<std::size_t>(version)]; }
  [[nodiscard]] const std::vector<Saved>& saved() const { return saved_; }

 private:
  void place(const Dataflow& flow, const std::vector<int>& life);
  [[nodiscard]] Place input() const;
  [[nodiscard]] Place home(int chunk) const;
  [[nodiscard]] Place away_from(Place taken, int chunk) const;

  bool in_place_;
  bool all_to_all_;  // its chunks 0..N-1 are input blocks, N..2N-1 output blocks
  int blocks_;
  std::vector<Place> place_;  // [version]
  std::vector<Saved> saved_;
};

}  // namespace collmark
