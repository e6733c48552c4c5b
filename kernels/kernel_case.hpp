/// For tests: runs a kernel on the CPU grid, several launches in a row, and compares with the sequential reference.
#pragma once

#include <string>
#include <vector>

#include "collectives/reference.hpp"
#include "collectives/schedule.hpp"
#include "kernels/on_cpu/grid.hpp"

namespace collmark {

struct KernelCase {
  std::string algorithm = "ring";  // a name of the catalogue
  int ranks = 4;
  Payload payload;
  Placement placement = Placement::out_of_place;
  int channels = 2;
  int lanes = 8;  // of a block
  int slots = 2;
  int slot_elements = 40;
  int launches =
      3;  // back to back: a rank starts the next one when it has ended the last, whatever others do
  int misalignment = 0;  // elements by which every buffer misses a pack
  grid::Engine engine = grid::Engine::fibers;
  std::uint64_t seed = 1;
  std::uint32_t looks =
      1'000'000;         // before a rank gives up; the fibers' deadlock detector is faster
  int silent_rank = -1;  // never runs
};

/// Empty if every launch of every rank left what `reference` says, bit for bit, else what is wrong.
///   Throws   what grid::run throws.
[[nodiscard]] std::string differs(const KernelCase& c);

}  // namespace collmark
