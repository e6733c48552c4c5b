/// A schedule made ready for ranks that share no memory: what one rank sends, receives and makes of it.
///
///   step of rank 1      sends      own chunk 0  ──> rank 2         read where it lies before the step
///                       receives   chunk 3      <── rank 0         straight into its place, or staged
///                       merges     own chunk 3 + staged chunk 3    in the schedule's order
///
///  messages   All that a pair exchanges in one step is one message: its chunks in list order. Both ends
///             walk the same schedule, so they agree on the order without a word.
///  places     A step reads the state from before it. What is sent and overwritten in one step has two
///             versions in two places (places.hpp). Where that would take a copy, in place at the start, the
///             merge goes behind the send instead: what was received waits, staged, until the old value has left.
///  memory     One rank's program holds what passes through that rank and nothing of the others.
#pragma once

#include <vector>

#include "collectives/places.hpp"
#include "collectives/schedule.hpp"

namespace collmark {

inline constexpr int kNone = -1;

/// One of this rank's chunks in one of its places.
struct Slot {
  int chunk = 0;
  Place place = Place::input;
  friend bool operator==(const Slot&, const Slot&) = default;
};

/// A chunk within a message. Received: it lands in `slot`, or is staged for `merge`; staged for kNone, the
/// schedule replaces it in the same step and nobody reads it. Sent: it is read from `slot`, which
/// `merge` overwrites in this very step, if it is not kNone.
struct Parcel {
  Slot slot;
  int peer_chunk = 0;  // what the other end calls it: the shorter of the two is what travels
  int merge = kNone;   // index into the step's merges
  bool staged = false;
};

/// No parcels: a signal.
struct RankMessage {
  int peer = 0;
  bool reduced = false;  // some of it, by the receiver: worth overlapping with the transfer
  std::vector<Parcel> parcels = {};
};

/// Which parcel of a step: indices into its receives or its sends, and within that message.
struct ParcelIndex {
  int message = kNone;
  int parcel = 0;
};

/// A value that goes into a merge: a staged parcel, or one of this rank's own chunks.
struct Operand {
  ParcelIndex received = {};
  Slot own = {};  // if nothing was received
};

/// Operands combined in order into one chunk; a single one is moved. All merges of a step may run in any
/// order or at once: none writes what another reads.
struct Merge {
  Slot to;
  std::vector<Operand> operands = {};
  std::vector<ParcelIndex> behind =
      {};  // of the step's sends: must have left before `to` is written
};

struct MessageStep {
  int step = 0;          // of the schedule
  int sends_before = 0;  // of the program, from its start: complete before this step writes
  std::vector<RankMessage> sends = {};
  std::vector<RankMessage> receives = {};
  std::vector<Merge> merges = {};
};

struct MessageProgram {
  std::vector<MessageStep> steps = {};  // those this rank has a part in, in order
  bool uses_scratch = false;
  bool uses_spare = false;
};

/// The part of `rank`. Walks the schedule once.
///   Throws   Error{usage} for a transfer outside of the schedule's ranks or chunks.
[[nodiscard]] MessageProgram message_program(const Schedule& s, int rank, Placement placement);

}  // namespace collmark
