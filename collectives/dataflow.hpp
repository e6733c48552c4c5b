/// The dataflow of a schedule: every value a chunk ever holds (a Version), and what is combined into it.
///
///   step 0            step 1                 A chunk that is overwritten gets a new version. A step
///   r0  v0 ─┐                                reads the versions from before the step, so a version
///           + ──> v2 ───────┐                that others still read while its successor is written
///   r1  v1 ─┘               └──> v3          is *contested*: the two must not share their memory.
///
/// Executors whose ranks can reach each other's memory plan from this (plan.hpp).
#pragma once

#include <vector>

#include "collectives/schedule.hpp"

namespace collmark {

/// A transfer that crosses a link. Those of one pair in one step are one message: the first one counts it.
struct Edge {
  int src = 0;
  int dst = 0;
  int messages = 1;  // 1 for the first of its pair in its step, else 0
};

/// One value of one chunk of one rank.
struct Version {
  int rank = 0;
  int chunk = 0;
  int made_by = -1;          // index of the Combine that wrote it; -1: held from the start
  bool empty = false;        // nothing was ever put there: no input of the collective
  bool contested = false;    // read by another combine in the very step that replaces it
  std::vector<int> readers;  // indices of the combines that read it
};

/// All that goes into one chunk of one rank in one step, in reduction order; or the signals a rank waits for.
struct Combine {
  int step = 0;
  int rank = 0;
  int chunk = -1;            // -1: signals only
  int made = -1;             // the version written
  std::vector<int> sources;  // versions, in list order; one source is a copy
  std::vector<Edge> edges;
};

struct Dataflow {
  int ranks = 1;
  int chunks = 1;
  std::vector<Version> versions;
  std::vector<Combine> combines;       // by step, in list order within a step
  std::vector<std::vector<int>> life;  // [rank * chunks + chunk]: its versions, oldest first

  [[nodiscard]] const std::vector<int>& versions_of(int rank, int chunk) const {
    return life[static_cast<std::size_t>(rank) * static_cast<std::size_t>(chunks) +
                static_cast<std::size_t>(chunk)];
  }
  [[nodiscard]] const Version& version(int v) const {
    return versions[static_cast<std::size_t>(v)];
  }
  [[nodiscard]] const Combine& combine(int c) const {
    return combines[static_cast<std::size_t>(c)];
  }
};

/// Throws Error{usage} for a transfer outside of the schedule's ranks or chunks.
void require_in_range(const Schedule& s, int step, const Transfer& x);

/// Walks the schedule once. Throws Error{usage} for a transfer outside of the schedule's ranks or chunks.
[[nodiscard]] Dataflow dataflow(const Schedule& s);

}  // namespace collmark
