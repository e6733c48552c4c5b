/// All-reduce for small sizes: everybody sends lines (line.hpp) straight to whom they are for. No barrier, one trip.
///
///   inbox of a rank    [round][parity][channel][sender][line]
///
///   The flag is the number of the launch, its epoch, so nothing is ever cleared: the first is 1, and when they have
///   wrapped to 0, what fresh memory holds, every line has been written since. Epochs alternate between two inboxes: a
///   rank may be one launch ahead of a peer that still reads, never two, as it needs that peer's data in between.
///
///   one_shot_ll    everybody sends all it has to everybody, and adds in rank order
///   two_shot_ll    a chunk goes to its owner, which adds in rank order and sends the result to everybody
///
///   Bytes     of data p(p-1)S and 2(p-1)S in all; on the wire twice that, for the flags.
///   Needs     nothing of in and out: inputs are copied before any output is written.
///   Source    of the lines, line.hpp; of both shapes, collectives/direct.cpp.
#pragma once

#include "kernels/block.hpp"
#include "kernels/line.hpp"

namespace collmark {

/// A channel's part of all inboxes in one launch.
template <class T>
class Inboxes {
 public:
  COLLMARK_DEVICE explicit Inboxes(const Block& block)
      : block_(block), epoch_(block.view().epochs[block.channel()] + 1) {}

  /// A run of elements to a peer's inbox. Thread i sends lines i, i + threads, ...
  COLLMARK_DEVICE void send(int round, int peer, const T* data, std::int64_t count) const {
    std::uint64_t* const box = lines(peer, round, block_.rank());
    for (std::int64_t i = thread_index(); i < lines_of<T>(count); i += thread_count())
      send_word(word_of(data, i, count), line_at(box, i), epoch_);
  }
  /// The same for one line.
  COLLMARK_DEVICE void send(int round, int peer, std::int64_t i, const LineData<T>& word) const {
    send_word(word, line_at(lines(peer, round, block_.rank()), i), epoch_);
  }

  /// Line `i` of what `sender` sends here, when it has come; false if it never does.
  COLLMARK_DEVICE bool receive(int round, int sender, std::int64_t i, int step,
                               LineData<T>* word) const {
    return receive_word(line_at(lines(block_.rank(), round, sender), i), epoch_,
                        block_.patience(Awaited::line, sender, step), word);
  }
  /// The end of the launch, of all threads: the next one has the next epoch.
  COLLMARK_DEVICE void close() const {
    block_barrier();  // all have read the epoch
    if (thread_index() == 0) block_.view().epochs[block_.channel()] = epoch_;
  }

 private:
  /// Where `sender` finds its lines in the inbox of `owner`.
  [[nodiscard]] COLLMARK_DEVICE std::uint64_t* lines(int owner, int round, int sender) const {
    const Job& job = block_.job();
    const std::int64_t parity = epoch_ & 1;
    const std::int64_t box =
        ((round * 2 + parity) * job.channels + block_.channel()) * job.ranks + sender;
    return line_at(block_.view().inboxes[owner], box * job.inbox_lines);
  }

  const Block& block_;
  std::uint32_t epoch_;
};

/// Line `i` of everybody, added in rank order; false if one never comes.
template <class T>
COLLMARK_DEVICE bool receive_all(const Block& me, const Inboxes<T>& boxes, std::int64_t i,
                                 LineData<T>* sum) {
  const Reduction& what = me.job().what;
  if (!boxes.receive(0, 0, i, 0, sum)) return false;
  for (int sender = 1; sender < me.job().ranks; ++sender) {
    LineData<T> word;
    if (!boxes.receive(0, sender, i, 0, &word)) return false;
    *sum = combined_units(what.op, *sum, word);
  }
  if (what.divisor > 0) *sum = divided_unit(*sum, what.divisor);
  return true;
}

template <class T>
COLLMARK_KERNEL void one_shot_ll_all_reduce(Job job) {
  const Block me(job);
  const Inboxes<T> boxes(me);
  const Part x = me.chunk<T>(0);
  const T* const in = reinterpret_cast<const T*>(me.view().inputs[me.rank()]) + x.offset;
  T* const out = reinterpret_cast<T*>(me.view().outputs[me.rank()]) + x.offset;
  for (int d = 0; d < job.ranks; ++d)  // everybody begins with another peer
    boxes.send(0, (me.rank() + d) % job.ranks, in, x.count);
  for (std::int64_t i = thread_index(); i < lines_of<T>(x.count); i += thread_count()) {
    LineData<T> sum;
    if (!receive_all(me, boxes, i, &sum)) break;
    put(sum, out, i, x.count);
  }
  if (thread_index() == 0) {
    note_pass(job.ranks * (data_bytes<T>(x.count) + line_bytes<T>(x.count)),
              job.ranks * line_bytes<T>(x.count) + data_bytes<T>(x.count));
    for (int peer = 0; peer < job.ranks; ++peer)
      if (peer != me.rank()) note_transfer({peer, me.rank(), x.offset, x.count});
  }
  boxes.close();
}

template <class T>
COLLMARK_KERNEL void two_shot_ll_all_reduce(Job job) {
  const Block me(job);
  const Inboxes<T> boxes(me);
  const T* const in = reinterpret_cast<const T*>(me.view().inputs[me.rank()]);
  T* const out = reinterpret_cast<T*>(me.view().outputs[me.rank()]);
  for (int d = 0; d < job.ranks; ++d) {
    const int owner = (me.rank() + d) % job.ranks;
    const Part x = me.chunk<T>(owner);
    boxes.send(0, owner, in + x.offset, x.count);
  }
  const Part mine = me.chunk<T>(me.rank());
  bool all = true;
  for (std::int64_t i = thread_index(); all && i < lines_of<T>(mine.count); i += thread_count()) {
    LineData<T> sum;
    all = receive_all(me, boxes, i, &sum);
    for (int d = 0; all && d < job.ranks; ++d) boxes.send(1, (me.rank() + d) % job.ranks, i, sum);
  }
  for (int owner = 0; all && owner < job.ranks; ++owner) {
    const Part x = me.chunk<T>(owner);
    for (std::int64_t i = thread_index(); all && i < lines_of<T>(x.count); i += thread_count()) {
      LineData<T> word;
      all = boxes.receive(1, owner, i, 1, &word);
      if (all) put(word, out + x.offset, i, x.count);
    }
  }
  for (int peer = 0; peer < job.ranks && thread_index() == 0; ++peer) {
    const Part theirs = me.chunk<T>(peer);
    note_pass(
        data_bytes<T>(theirs.count) + line_bytes<T>(mine.count) + line_bytes<T>(theirs.count),
        line_bytes<T>(theirs.count) + line_bytes<T>(mine.count) + data_bytes<T>(theirs.count));
    if (peer == me.rank()) continue;
    note_transfer({peer, me.rank(), mine.offset, mine.count});
    note_transfer({peer, me.rank(), theirs.offset, theirs.count});
  }
  boxes.close();
}

}  // namespace collmark
