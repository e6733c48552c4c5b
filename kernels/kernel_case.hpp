/// For tests: runs a kernel on the CPU grid, several launches in a row, and compares with the sequential reference.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectives/reference.hpp"
#include "collectives/schedule.hpp"
#include "kernels/moved_part.hpp"
#include "kernels/on_cpu/grid.hpp"

namespace collmark {

/// A kernel by name (kernel_job.hpp), for one collective.
struct NamedKernel {
  Collective collective = Collective::all_reduce;
  std::string algorithm = "ring";
};
/// All of hand_written.hpp.
[[nodiscard]] const std::vector<NamedKernel>& hand_written_kernels();
/// The whole catalogue.
[[nodiscard]] std::vector<NamedKernel> interpreted_kernels();
/// Hand-written and interpreted.
[[nodiscard]] std::vector<NamedKernel> all_kernels();
[[nodiscard]] bool supports(const NamedKernel& kernel, int ranks);

struct KernelCase {
  NamedKernel kernel = {};
  int ranks = 4;
  int root = 0;
  Payload payload = {};
  Placement placement = Placement::out_of_place;
  int channels = 2;  // as Tuning
  int lanes = 8;     // of a block
  int slots = 2;
  int slot_elements = 40;
  int launches =
      3;  // back to back: a rank starts the next one when it has ended the last, whatever others do
  int misalignment = 0;                         // elements by which every input misses a pack
  std::optional<int> output_misalignment = {};  // out of place; else as the inputs
  grid::Engine engine = grid::Engine::fibers;
  std::uint64_t seed = 1;
  std::int64_t longest_wait =
      10'000'000'000;  // [ns, fibers: turns], then a rank gives up; their deadlock detector is faster
  int silent_rank = -1;  // never runs
};

/// Which case it is, for the message of a test.
[[nodiscard]] std::string words(const KernelCase& c);

/// What one launch has moved, by its kernels' own account.
struct LaunchTraffic {
  std::int64_t loads = 0, stores = 0;     // [bytes]
  std::map<int, std::int64_t> stored_by;  // [block], [bytes]
  std::vector<MovedPart> transfers;
};

/// Empty if every launch of every rank left what `reference` says, bit for bit, else what is wrong.
///   Throws   what grid::run throws.
[[nodiscard]] std::string differs(const KernelCase& c);
/// The same of one launch, whose moves are added to `watched`.
[[nodiscard]] std::string differs(const KernelCase& c, LaunchTraffic& watched);

}  // namespace collmark
