/// Any algorithm of the catalogue: runs a rank's plan, a list of passes over memory that all ranks reach, of which
/// collectives/plan.hpp says what each waits for.
///
///   for each tile of the chunks          one instruction
///     for each instruction                 wait until the peers it names have done so many of theirs
///                                          combine its sources in order, store to its destinations
///                                          say that it is done, if anybody waits for that
///
///   A rank's counter on one channel    begun + 1                     it has begun
///                                      begun + 1 + t m + n           it has done n instructions of tile t
///
///   where m is the same for all ranks, so that every rank knows where the others count from. The executor of threads runs
///   the same plan (collectives/execute.hpp).
///
///   Order     the schedule's.
///   Memory    the places of the plan: each rank's input, output, scratch and spare.
#pragma once

#include "kernels/block.hpp"

namespace collmark {

template <class T>
class Interpreter {
 public:
  COLLMARK_DEVICE explicit Interpreter(const Block& block)
      : block_(block),
        program_(block.view().program),
        begun_(block.view().begun[block.channel()]),
        share_(
            share({0, program_.longest}, block.channel(), block.job().channels, Pack<T>::kSize)) {}

  /// The same for every rank and channel.
  [[nodiscard]] COLLMARK_DEVICE std::int64_t tiles() const {
    const Part longest = share({0, program_.longest}, 0, block_.job().channels, Pack<T>::kSize);
    const std::int64_t tiles = (longest.count + program_.tile - 1) / program_.tile;
    return tiles > 1 ? tiles : 1;
  }

  COLLMARK_DEVICE void begin() const {
    block_barrier();  // all have read where to count from
    if (thread_index() == 0) store_release(&progress(block_.rank()), done(0, 0));
  }

  COLLMARK_DEVICE bool perform(int index, std::int64_t tile) const {
    const Instruction& x = program_.instructions[index];
    if (!await(x.first_wait, x.waits, tile, x.step)) return false;
    const Part part = of_chunk(tile, x.count);
    if (x.sources > 0) combine(x, part);
    block_barrier();  // all have loaded and stored before anybody is told, or reads it here
    if (thread_index() != 0) return true;
    for (int e = x.first_edge; e < x.first_edge + x.edges && notes_transfers(); ++e)
      note_transfer({program_.edges[e].src, program_.edges[e].dst, part.offset, part.count});
    if (x.announced) store_release(&progress(block_.rank()), done(tile, index + 1));
    return true;
  }

  /// Nobody reads this rank's memory any more, and its result is complete.
  COLLMARK_DEVICE bool leave() const {
    const std::int64_t last = tiles() - 1;
    if (!await(program_.first_leave, program_.leaves, last, -1)) return false;
    for (std::int64_t tile = 0; tile <= last && block_.job().what.divisor > 0; ++tile)
      for (int i = 0; i < program_.owed_size; ++i) {
        const Part part = of_chunk(tile, program_.owed_counts[i]);
        T* const at = reinterpret_cast<T*>(program_.owed[i]) + part.offset;
        pass<T>(Few<const T, 1>{{at}}, Few<T, 1>{{at}}, part.count, block_.job().what,
                Value::complete);
      }
    if (thread_index() == 0) block_.view().begun[block_.channel()] = done(last + 1, 0);
    return true;
  }

 private:
  [[nodiscard]] COLLMARK_DEVICE std::uint32_t& progress(int rank) const {
    return block_.view().progress[rank][block_.channel() * kFlagStride];
  }
  [[nodiscard]] COLLMARK_DEVICE std::uint32_t done(std::int64_t tile, int instructions) const {
    return begun_ + 1 +
           static_cast<std::uint32_t>(tile) * static_cast<std::uint32_t>(program_.most) +
           static_cast<std::uint32_t>(instructions);
  }

  COLLMARK_DEVICE bool await(int first, int waits, std::int64_t tile, int step) const {
    bool here = true;
    for (int i = thread_index(); i < waits; i += thread_count()) {
      const PeerActions& w = program_.waits[first + i];
      const std::uint32_t value = w.actions == 0 ? done(0, 0) : done(tile, w.actions);
      const Patience patience = block_.patience(Awaited::progress, w.peer, step);
      if (!wait_for(&progress(w.peer), value, patience)) here = false;
    }
    return waits == 0 || block_all(here);  // makes each thread's acquire everybody's
  }

  /// What of a chunk of `count` elements this channel does in this tile. The same cuts for all chunks, whatever their
  /// length: what one pass writes, another reads on the same channel.
  [[nodiscard]] COLLMARK_DEVICE Part of_chunk(std::int64_t tile, std::int64_t count) const {
    const Part part = piece_of(share_, program_.tile, tile);
    const std::int64_t left = count > part.offset ? count - part.offset : 0;
    return {part.offset, left < part.count ? left : part.count};
  }

  COLLMARK_DEVICE void combine(const Instruction& x, Part part) const {
    std::byte* const* const list = program_.addresses + x.first_address;
    const OfAddresses<const T> from{list, part.offset, x.sources};
    const OfAddresses<T> to{list + x.sources, part.offset, x.destinations};
    const auto run = [&](const auto& sources, const auto& destinations) {
      pass<T>(sources, destinations, part.count, block_.job().what, Value::partial);
    };
    // Most instructions are one of these; with as many pointers as the code says they stay in registers.
    if (x.sources == 1 && x.destinations == 1) return run(few<1>(from), few<1>(to));
    if (x.sources == 2 && x.destinations == 1) return run(few<2>(from), few<1>(to));
    if (x.sources == 2 && x.destinations == 2) return run(few<2>(from), few<2>(to));
    run(from, to);
  }

  const Block& block_;
  const Program& program_;
  std::uint32_t begun_;
  Part share_;  // of the longest chunk
};

template <class T>
COLLMARK_KERNEL void interpreted(Job job) {
  const Block me(job);
  const Interpreter<T> plan(me);
  const int size = me.view().program.size;
  plan.begin();
  for (std::int64_t tile = 0; tile < plan.tiles(); ++tile)
    for (int i = 0; i < size; ++i)
      if (!plan.perform(i, tile)) return;
  (void)plan.leave();
}

}  // namespace collmark
