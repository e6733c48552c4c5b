#include "kernels/on_cpu/grid.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "kernels/on_cpu/fibers.hpp"
#include "kernels/on_cpu/lane.hpp"

namespace collmark::grid {
namespace {

thread_local const Lane* current = nullptr;

// Fibers take turns in one OS thread, and ThreadSanitizer takes them for threads that share `current`.
#define COLLMARK_UNSEEN __attribute__((no_sanitize_thread, noinline))
COLLMARK_UNSEEN void enter(const Lane* lane) { current = lane; }
COLLMARK_UNSEEN const Lane& me() { return *current; }

/// What a barrier promises is said with the same atomics on both engines, so that ThreadSanitizer knows what
/// lanes may rely on and what not.
void meet(Meeting& m) {
  if (!in_fiber()) return m.threads.arrive_and_wait();
  const unsigned generation = m.generation.load(std::memory_order_acquire);
  if (m.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == m.expected) {
    m.arrived.store(0, std::memory_order_relaxed);
    m.generation.store(generation + 1, std::memory_order_release);  // pairs with the acquire below
    fiber_wakes(m);
  } else {
    while (m.generation.load(std::memory_order_acquire) == generation) fiber_parks(m);
  }
}

void require_sense(const Launch& launch) {
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw std::invalid_argument("grid: " + what);
  };
  require(launch.blocks >= 1, "blocks must be 1 or more, not " + std::to_string(launch.blocks));
  require(launch.lanes >= 1 && launch.lanes <= 1024,
          "lanes must be 1 to 1024, not " + std::to_string(launch.lanes));
  require(launch.blocks_per_rank >= 0 && launch.resident >= 0, "no count may be negative");
}

void run_threads(const std::vector<std::unique_ptr<Lane>>& lanes,
                 const std::function<void()>& kernel) {
  std::vector<std::jthread> threads;
  threads.reserve(lanes.size());
  for (const auto& lane : lanes)
    threads.emplace_back([&kernel, mine = lane.get()] {
      enter(mine);
      kernel();
    });
}

}  // namespace

Block::Block(int lanes) : meeting(lanes) {
  for (int first = 0; first < lanes; first += kWarp)
    warps.push_back(std::make_unique<Warp>(std::min(kWarp, lanes - first)));
}

Report run(const Launch& launch, const std::function<void()>& kernel) {
  require_sense(launch);
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<std::unique_ptr<Lane>> lanes;
  for (int b = 0; b < launch.blocks; ++b) {
    blocks.push_back(std::make_unique<Block>(launch.lanes));
    for (int i = 0; i < launch.lanes; ++i)
      lanes.push_back(std::make_unique<Lane>(
          Lane{{.lane = i, .block = b, .lanes = launch.lanes, .blocks = launch.blocks},
               blocks.back().get()}));
  }
  if (launch.engine == Engine::threads) return run_threads(lanes, kernel), Report{};
  const FiberRun done = run_fibers(launch, lanes, kernel, enter);
  enter(nullptr);
  const std::string seed = "seed " + std::to_string(launch.seed) + ": ";
  if (!done.deadlock.empty()) throw Deadlock(seed + done.deadlock);
  if (done.narrow_scope)
    throw NarrowScope(seed +
                      "a flag that two ranks share was accessed with less than system scope");
  return done.report;
}

const Index& index() { return me().index; }

void block_barrier() { meet(me().block->meeting); }

bool block_all(bool said) {
  Block& block = *me().block;
  if (!said) block.refusals.fetch_add(1, std::memory_order_relaxed);
  meet(block.meeting);  // all have said
  const bool all = block.refusals.load(std::memory_order_relaxed) == 0;
  meet(block.meeting);  // all have seen
  if (!said) block.refusals.fetch_sub(1, std::memory_order_relaxed);
  return all;
}

void warp_barrier() { meet(me().warp().meeting); }

std::uint64_t shuffle(std::uint64_t word, int from) {
  const Lane& lane = me();
  Warp& warp = lane.warp();
  warp.words[static_cast<std::size_t>(lane.index.lane % kWarp)] = word;
  meet(warp.meeting);
  const std::uint64_t got = warp.words[static_cast<std::size_t>(from % kWarp)];
  meet(warp.meeting);
  return got;
}

std::uint32_t ballot(bool vote) {
  const Lane& lane = me();
  Warp& warp = lane.warp();
  warp.words[static_cast<std::size_t>(lane.index.lane % kWarp)] = vote ? 1 : 0;
  meet(warp.meeting);
  std::uint32_t votes = 0;
  for (int i = 0; i < warp.meeting.expected; ++i)
    votes |= static_cast<std::uint32_t>(warp.words[static_cast<std::size_t>(i)]) << i;
  meet(warp.meeting);
  return votes;
}

std::byte* shared_memory(const void* place, std::size_t size) {
  Block& block = *me().block;
  const std::size_t units = (size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
  const std::lock_guard lock(block.mutex);
  std::vector<std::max_align_t>& memory = block.shared[place];
  if (memory.empty()) memory.resize(units);
  if (memory.size() != units) throw std::logic_error("a place in shared memory has two sizes");
  return reinterpret_cast<std::byte*>(memory.data());
}

void at_flag(const void* word, Scope scope) { fiber_at_flag(word, scope); }

void pause_lane(const char* what) {
  if (in_fiber())
    fiber_yields(what);
  else
    sched_yield();
}

void pause_lane(const FlagWait& wait) {
  if (in_fiber())
    fiber_yields(wait);
  else
    sched_yield();
}

std::int64_t nanoseconds() {
  if (in_fiber() && fiber_clock() == Clock::turns) return fiber_turns();
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void progress() { fiber_progress(); }

}  // namespace collmark::grid
