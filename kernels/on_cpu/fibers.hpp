/// The scheduler of fibers. Its own state is outside of what is tested: this file's source is compiled without
/// ThreadSanitizer, which is only told of the switches.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/on_cpu/lane.hpp"

namespace collmark::grid {

/// How a run of fibers ended.
struct FiberRun {
  Report report;
  std::string deadlock;  // who waits for what; empty if all lanes came to their end
  bool narrow_scope = false;
};

/// Runs `kernel` on all lanes; `enter` makes a lane the current one of this thread.
[[nodiscard]] FiberRun run_fibers(const Launch& launch,
                                  const std::vector<std::unique_ptr<Lane>>& lanes,
                                  const std::function<void()>& kernel, void (*enter)(const Lane*));

// Of the fiber that runs; nothing happens where none does.
[[nodiscard]] bool in_fiber();
void fiber_yields(const char* what);
void fiber_yields(const FlagWait& wait);
void fiber_at_flag(const void* word, Scope scope);
void fiber_progress();
// Of the run.
[[nodiscard]] Clock fiber_clock();
[[nodiscard]] std::int64_t fiber_turns();
/// Off the list of those who can run, until fiber_wakes().
void fiber_parks(Meeting& meeting);
void fiber_wakes(Meeting& meeting);

}  // namespace collmark::grid
