/// Inputs whose result is one exact value whatever the order of the operations, and the check of
/// what a rank holds afterwards. The expectation comes from what the collective owes (promise.hpp)
/// and from arithmetic on small numbers, never from the schedule.
///
/// sum, avg, min, max: with p contributors, contributor r holds at position i
///
///     s(i) (c(i) + d((r + h(i)) mod p))     c >= 1, |d| < c, s = +1 or -1; c, h, s pseudo-random
///
/// where d are the p numbers ... -3, -1, 1, 3 ... that add up to 0. So the sum is s p c, the
/// average s c, no value is 0, every partial sum is exact, ranks differ at each position (as far as
/// the dtype can hold p different exact summands: all of them to p = 11 in bf16 and u8, 32 in f16,
/// 2,896 in f32).
///
/// prod: powers of two with signs; of at most so many contributors at a position that nothing
/// overflows.
///
/// Values repeat every kPeriod positions. A prime, so that no tile or chunk moved by a power of two
/// looks right; small, so that writing an input reads nothing but L1. Each `generation` shifts
/// them: results left over from the one before are wrong at almost every position.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/operation.hpp"
#include "collectives/partition.hpp"
#include "collectives/reference.hpp"
#include "collectives/schedule.hpp"

namespace collmark {

inline constexpr int kPeriod = 4093;  // [elements]

/// The input of contributor `r` of `contributors` at position `i`, and the result there.
struct ExactValues {
  int contributors = 1;
  Dtype dtype = Dtype::f32;
  ReduceOp op = ReduceOp::sum;

  [[nodiscard]] double input(int r, std::int64_t i) const;
  [[nodiscard]] double result(std::int64_t i) const;
};

/// All that concerns the data of one operation; shared by the ranks of a process, constant once
/// made.
class ExactData {
 public:
  /// `s` gives collective, ranks, chunks, root and servers; its steps are not looked at.
  /// Inputs are `times` as large as the formula says, the results are not: for ranks that divide
  /// their input by it before they reduce. Throws Unsupported if the dtype cannot hold an exact sum
  /// over so many ranks, or inputs so large.
  ExactData(const Schedule& s, const Payload& payload, int times = 1);

  /// Writes the elements of `rank`'s input that the collective reads.
  void write_input(int rank, int generation, std::byte* input) const;
  /// Every element that `rank` is owed, bit for bit.
  [[nodiscard]] Check check(int rank, int generation, const std::byte* output) const;

  // The same for who writes and compares elsewhere, on a GPU.

  /// Elements [at, at + size) of a buffer hold the pattern from position `phase` on, again and again.
  struct Stretch {
    Elements at;
    Elements size;
    int pattern;
    std::int64_t phase;  // in [0, kPeriod)
  };
  /// What write_input() writes, and what check() compares.
  [[nodiscard]] std::vector<Stretch> inputs(int rank, int generation) const;
  [[nodiscard]] std::vector<Stretch> results(int rank, int generation) const;
  /// kPeriod elements each.
  [[nodiscard]] const std::vector<std::vector<std::byte>>& patterns() const { return patterns_; }

 private:
  struct Piece {  // of a rank's buffer
    Elements at;
    Elements size;
    int pattern;    // the rank whose input it is; `ranks` means the result
    Elements from;  // position of its first value
  };
  static void append(std::vector<Piece>& pieces, const Piece& next);
  [[nodiscard]] static std::int64_t phase_of(const Piece& piece, int generation);
  [[nodiscard]] static std::vector<Stretch> stretches(const std::vector<Piece>& pieces,
                                                      int generation);
  template <class Visit>
  void for_each_stretch(const Piece& piece, int generation, Visit visit) const;

  Dtype dtype_;
  std::vector<std::vector<std::byte>> patterns_;  // kPeriod elements each: every rank's, the result
  std::vector<std::vector<Piece>> held_, owed_;   // per rank
};

}  // namespace collmark
