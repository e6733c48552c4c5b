/// Runs the source of a CUDA kernel on the CPU: every CUDA thread is a *lane*, all blocks are there at once, as in
/// a cooperative launch, so that blocks may wait for each other's flags.
///
///   threads   each lane an OS thread: real concurrency, a few hundred lanes
///   fibers    all lanes in one OS thread, switched at flag accesses by a seeded generator: a run repeats by its
///             seed, a deadlock is found exactly and told, and ThreadSanitizer sees each fiber as a thread of
///             its own, since a switch between two of them orders nothing
///
/// The kernel reaches all of it through platform.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "kernels/flag_wait.hpp"

namespace collmark::grid {

enum class Engine { threads, fibers };
/// What nanoseconds() counts. Turns repeat by their seed; the steady clock ends a wait when whoever waits outside would.
enum class Clock { turns, steady };

struct Launch {
  int blocks = 1;
  int lanes = 32;  // of a block
  Engine engine = Engine::fibers;
  std::uint64_t seed = 1;
  // Of the fibers:
  int switch_per_1024 = 256;  // chance of a switch at a flag access
  int slow_per_1024 = 300;    // share of the blocks that hardly get a turn, for a while
  int resident = 0;  // blocks that are there at once; 0: all. Fewer model a grid that does not fit.
  std::uint64_t patience = 4096;  // looks in vain by every fiber on average, then it is a deadlock
  std::uint64_t gives_way_after =
      0;  // so many such looks each time, to other processes, which may end the wait; 0: never
  Clock clock = Clock::turns;  // a thread's is always steady
  int blocks_per_rank = 0;  // then a word that two ranks share must be accessed with system scope
};

struct Report {
  std::uint64_t switches = 0;
  std::uint64_t accesses = 0;  // to flags
};

/// Nobody can go on. Its text says who waits for what; the seed repeats it.
class Deadlock : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A word that two ranks share was accessed with less than system scope: one GPU hides that, two do not.
class NarrowScope : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs `kernel` on every lane of the grid, to its end.
///   Throws   Deadlock, NarrowScope (fibers); std::invalid_argument for a launch that makes no sense.
Report run(const Launch& launch, const std::function<void()>& kernel);

// What a lane may do. Outside of run() there are none.

struct Index {
  int lane = 0;
  int block = 0;
  int lanes = 1;
  int blocks = 1;
};
[[nodiscard]] const Index& index();

void block_barrier();
/// The same, and true if all lanes of the block said true.
[[nodiscard]] bool block_all(bool said);
void warp_barrier();
/// The word that lane `from` of the caller's warp passed in; all lanes of the warp call it.
[[nodiscard]] std::uint64_t shuffle(std::uint64_t word, int from);
/// A bit for each lane of the warp.
[[nodiscard]] std::uint32_t ballot(bool vote);
/// Memory of the block: the same for all lanes that name the same place, aligned to 16 bytes.
///   Throws   std::logic_error if the place has another size already.
[[nodiscard]] std::byte* shared_memory(const void* place, std::size_t size);

enum class Scope { device, system };
/// Before every access to a flag: a place to switch.
void at_flag(const void* word, Scope scope);
/// Between two looks at a flag that is not there yet. `what` stays valid until the wait is over.
void pause_lane(const char* what);
void pause_lane(const FlagWait& wait);
/// Since some moment.
[[nodiscard]] std::int64_t nanoseconds();
/// Something that others may wait for was done, or a wait is over.
void progress();

}  // namespace collmark::grid
