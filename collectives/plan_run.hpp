/// Runs one rank's part of a plan on memory that all ranks reach: ranks that are threads, or processes whose
/// buffers lie in a shared window.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/partition.hpp"
#include "collectives/plan.hpp"
#include "collectives/rank_buffers.hpp"
#include "collectives/reduce.hpp"
#include "collectives/reference.hpp"
#include "collectives/waiting.hpp"

namespace collmark {

struct PlanOptions {
  Bytes tile{std::int64_t{128} *
             1024};         // of a chunk handled before the next step, so that data stays in cache
  Bytes streaming_above{};  // operations that touch more bypass the caches; 0 = the last-level
                            // cache's size
  ReducePass pass = nullptr;  // instead of the dtype's own: for tests of the executor
};

/// What a plan comes to for a payload: the same for every rank, in every process.
struct PlanShape {
  PlanShape(const Schedule& s, const Plan& plan, const Payload& what, const PlanOptions& options);

  /// Of `rank`, beside its buffers; 0 for what it does not use [bytes].
  struct Needs {
    Bytes scratch, spare;
  };
  std::vector<Needs> needs;  // [rank]

  Schedule schedule;
  Payload payload;
  Partition partition;
  std::size_t element;     // [bytes]
  std::size_t tile = 1;    // [elements] of a chunk
  int tiles = 1;           // per chunk
  bool streaming = false;  // more than the caches hold
  ReducePass reduce;
  AveragePass average = nullptr;       // null unless op is avg and the collective reduces
  std::vector<std::uint64_t> actions;  // [rank], of a tile
};

/// Where all that a rank brings lies, for the process that looks.
struct RankMemory {
  RankBuffers buffers = {};
  std::byte* scratch = nullptr;
  std::byte* spare = nullptr;
  Counter* progress = nullptr;  // operations entered and actions done, in one number
};

/// One rank's part, its addresses worked out: a Transport for execute(). Waiting is looking at a counter,
/// combining is one pass over peers' buffers.
///
/// A rank's counter grows by 1 + tiles x actions in each operation:
///   begin + 1                        it has entered
///   begin + 1 + tile x actions + n   it has done n actions of this tile
class alignas(kCacheLine) PlanRun {
 public:
  /// `shape`, `memory` and `waiting` outlive it.
  PlanRun(const PlanShape& shape, RankPlan&& mine, int rank, std::span<const RankMemory> memory,
          Waiting& waiting);

  /// One operation, to its end.
  void run();

  /// [rank]: what this rank has moved out of and into each, in its last operation.
  [[nodiscard]] std::span<const Moved> moved() const { return moved_; }

  [[nodiscard]] int actions() const { return static_cast<int>(passes_.size()); }
  [[nodiscard]] int tiles() const { return shape_.tiles; }
  void enter();
  void wait_for(int action, int tile);
  void combine(int action, int tile);
  void announce(int action, int tile);
  void leave();

 private:
  /// An action with its addresses.
  struct Pass {
    int step = 0;
    bool announced = false;
    Stores stores = Stores::cached;
    std::size_t count = 0;                  // [elements] of the chunk
    std::vector<const std::byte*> sources;  // first element of the chunk in each buffer
    std::vector<std::byte*> destinations;
    std::vector<Wait> waits;
    std::vector<Edge> edges;
  };

  [[nodiscard]] Pass pass_of(Action&& action) const;
  [[nodiscard]] std::byte* address(const Location& l) const;
  [[nodiscard]] std::uint64_t done(int peer, int tile, int actions) const;
  void await(const Wait& w, int tile, int step);
  [[nodiscard]] std::size_t move(const Pass& pass, std::size_t first, std::size_t count);

  const PlanShape& shape_;
  std::span<const RankMemory> memory_;  // [rank]
  Waiting& waiting_;
  int rank_;
  std::vector<Pass> passes_;
  std::vector<Wait> leave_;
  std::vector<Span> owed_;       // of the output, for the division of avg
  std::uint64_t operation_ = 0;  // how many this rank has entered
  std::vector<Moved> moved_;     // [rank]
  std::vector<const std::byte*> tile_sources_;
  std::vector<std::byte*> tile_destinations_;
};

}  // namespace collmark
