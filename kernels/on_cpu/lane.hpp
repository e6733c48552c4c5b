/// What the engines know of a lane, its warp and its block.
#pragma once

#include <array>
#include <atomic>
#include <barrier>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/on_cpu/grid.hpp"

namespace collmark::grid {

inline constexpr int kWarp = 32;

struct Fiber;

/// Lanes that wait for each other: with OS threads a std::barrier, with fibers a count.
struct Meeting {
  explicit Meeting(int lanes) : expected(lanes), threads(lanes) {}
  int expected;
  std::barrier<> threads;
  std::atomic<int> arrived{0};
  std::atomic<unsigned> generation{0};
  Fiber* parked = nullptr;  // the fiber scheduler's
};

struct Warp {
  explicit Warp(int lanes) : meeting(lanes) {}
  Meeting meeting;
  std::array<std::uint64_t, kWarp> words{};
};

struct Block {
  explicit Block(int lanes);
  Meeting meeting;
  std::vector<std::unique_ptr<Warp>> warps;
  std::mutex mutex;  // of `shared`; never held across a switch
  std::map<const void*, std::vector<std::max_align_t>> shared;
  std::atomic<int> refusals{0};  // of a vote
  bool slow = false;             // the fiber scheduler's
};

struct Lane {
  Index index;
  Block* block = nullptr;

  [[nodiscard]] Warp& warp() const {
    return *block->warps[static_cast<std::size_t>(index.lane / kWarp)];
  }
};

}  // namespace collmark::grid
