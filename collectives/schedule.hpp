/// A collective algorithm is data: a global-view list of transfers between ranks, step by step.
///
///   step 0      step 1      step 2
///   0 -> 1      0 -> 1      0 -> 1        A Schedule knows ranks, chunks and steps; never bytes,
///   1 -> 2      1 -> 2      1 -> 2        pointers or threads. Everything else reads it: verify,
///   2 -> 3      2 -> 3      2 -> 3        cost, reference, explain, the executors.
///   3 -> 0      3 -> 0      3 -> 0
///
/// Meaning, fixed:
///  - A step reads the state from before the step.
///  - List order is reduction order. The destination's own value stands where the list names it
///    (src == dst, same chunk), first otherwise. A copy starts the chunk anew: reduces listed after
///    it in the same step add to what it brought (the first push to a server).
///  - A transfer with src == dst moves nothing over a link.
///  - Transfers between the same pair in one step are one message.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "collectives/dtype.hpp"

namespace collmark {

enum class Verb : unsigned char { copy, reduce, signal };

/// Chunks [src_chunk, src_chunk + count) of src go to chunks [dst_chunk, dst_chunk + count) of dst.
struct Transfer {
  int src = 0;
  int dst = 0;
  int src_chunk = 0;
  int dst_chunk = 0;
  Verb verb = Verb::copy;
  int count = 1;  // [chunks]; 0 for a signal

  friend bool operator==(const Transfer&, const Transfer&) = default;
};

// The words in which builders write: the same chunk at both ends, a chunk renamed on the way, no
// data at all.
struct Reduce {
  int src, dst, chunk;
  int count = 1;
  operator Transfer() const { return {src, dst, chunk, chunk, Verb::reduce, count}; }
};
struct Copy {
  int src, dst, chunk;
  int count = 1;
  operator Transfer() const { return {src, dst, chunk, chunk, Verb::copy, count}; }
};
struct Move {
  int src, dst, src_chunk, dst_chunk;
  int count = 1;
  operator Transfer() const { return {src, dst, src_chunk, dst_chunk, Verb::copy, count}; }
};
struct Signal {
  int src, dst;
  operator Transfer() const { return {src, dst, 0, 0, Verb::signal, 0}; }
};

/// Receives the transfers of one step, in list order. Borrows the callable: pass it down, never
/// store it.
class Emit {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Emit> &&
           std::is_invocable_v<F&, const Transfer&>)
      Emit(F&& f)  // not explicit: a lambda becomes an Emit in place
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, const Transfer& x) {
          (*static_cast<std::remove_reference_t<F>*>(object))(x);
        }) {}
  void operator()(const Transfer& x) const { call_(object_, x); }

 private:
  void* object_;
  void (*call_)(void*, const Transfer&);
};

/// `steps` consecutive steps in which the same ranks send the same number of chunks to the same
/// peers. Whatever costs a pattern once can then multiply. The first `reducing` of them reduce as
/// the first step does, the others copy; in a run of one step, see the step.
struct TrafficRun {
  int steps = 0;
  int reducing = 0;
  friend bool operator==(const TrafficRun&, const TrafficRun&) = default;
};

struct Schedule {
  int ranks = 1;
  int chunks = 1;
  int steps = 0;
  std::function<void(int step, Emit emit)> step = {};  // walks one step; nothing is stored
  std::vector<TrafficRun> traffic = {};  // covers all steps, in order; empty = each step its own
  Collective collective = Collective::all_reduce;
  int root = 0;     // of broadcast and reduce
  int servers = 0;  // ranks [0, servers) contribute nothing and are owed nothing

  [[nodiscard]] bool contributes(int rank) const { return rank >= servers; }
};

[[nodiscard]] std::vector<TrafficRun> same_every_step(int steps, Verb verb);
[[nodiscard]] std::vector<TrafficRun> traffic_runs(
    const Schedule& s);  // never empty unless steps == 0

/// First a, then b: the steps of b follow those of a. Same ranks and chunks on both sides.
[[nodiscard]] Schedule then(Schedule a, Schedule b);
/// Both at once: step i of the result is step i of a, then step i of b; b's chunks follow a's.
/// Two halves of the data take two ways at the same time.
[[nodiscard]] Schedule beside(Schedule a, Schedule b);
/// Backwards in time, every transfer turned round and copied: a reduce becomes a broadcast,
/// a reduce-scatter an all-gather. A chunk that stays in its place needs no transfer.
[[nodiscard]] Schedule reversed(Schedule s);
/// The same moves among other ranks: rank i of s becomes rank as(i) of `ranks`.
[[nodiscard]] Schedule renumbered(Schedule s, int ranks, std::function<int(int)> as);

/// An all-reduce of 2^l ranks made one of `ranks` < 2^(l+1): the extra ranks first hand all they
/// have to a partner, rank 2^l + i to rank i, and get the result back last.
[[nodiscard]] Schedule folded(Schedule s, int ranks);

/// All transfers of one step, in list order.
[[nodiscard]] std::vector<Transfer> transfers(const Schedule& s, int step);

[[nodiscard]] constexpr int mod(int a, int n) { return ((a % n) + n) % n; }
/// Largest l with 2^l <= n, and smallest L with 2^L >= n; n >= 1.
[[nodiscard]] constexpr int floor_log2(int n) { return n < 2 ? 0 : 1 + floor_log2(n / 2); }
[[nodiscard]] constexpr int ceil_log2(int n) { return n < 2 ? 0 : 1 + floor_log2(n - 1); }

}  // namespace collmark
