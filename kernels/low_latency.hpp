/// All-reduce for small sizes: every 4 bytes of data travel with a 4-byte flag in one 8-byte store, so that whoever reads
/// them sees whether they have come. No barrier, no flag of its own, one trip (NCCL's LL protocol).
///
///   line    | data 0 | flag | data 1 | flag |      16 bytes, two 8-byte words: both flags count
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
///   Source    NCCL 2.x, protocol LL; Hu et al. 2025, "Demystifying NCCL", arXiv 2507.04786.
#pragma once

#include <cstring>

#include "kernels/block.hpp"

namespace collmark {

/// A channel's part of all inboxes in one launch.
template <class T>
class Inboxes {
 public:
  using Word = Pack<T, 8>;  // the data of a line

  COLLMARK_DEVICE explicit Inboxes(const Block& block)
      : block_(block), epoch_(block.view().epochs[block.channel()] + 1) {}

  /// A run of elements to a peer's inbox. Thread i sends lines i, i + threads, ...
  COLLMARK_DEVICE void send(int round, int peer, const T* data, std::int64_t count) const {
    std::uint64_t* const box = lines(peer, round, block_.rank());
    for (std::int64_t i = thread_index(); i < lines_of(count); i += thread_count())
      send_word(box + 2 * i, word_of(data, i, count));
  }
  COLLMARK_DEVICE void send_word(std::uint64_t* line, const Word& word) const {
    std::uint64_t data;
    std::memcpy(&data, &word, sizeof data);
    const std::uint64_t flag = std::uint64_t{epoch_} << 32;
    store_words(line, (data & 0xffffffff) | flag, (data >> 32) | flag);
  }

  /// Line `i` of what `sender` sends here, when it has come; false if it never does.
  COLLMARK_DEVICE bool receive(int round, int sender, std::int64_t i, int step, Word* word) const {
    std::uint64_t* const line = lines(block_.rank(), round, sender) + 2 * i;
    std::uint64_t a, b;
    const auto here = [&] {
      load_words(line, &a, &b);
      return a >> 32 == epoch_ && b >> 32 == epoch_;
    };
    if (!wait_until(here, block_.patience(sender, step))) return false;
    const std::uint64_t data = (a & 0xffffffff) | b << 32;
    std::memcpy(word, &data, sizeof data);
    return true;
  }

  /// Where `sender` finds its lines in the inbox of `owner`.
  [[nodiscard]] COLLMARK_DEVICE std::uint64_t* lines(int owner, int round, int sender) const {
    const Job& job = block_.job();
    const std::int64_t parity = epoch_ & 1;
    const std::int64_t box =
        ((round * 2 + parity) * job.channels + block_.channel()) * job.ranks + sender;
    return block_.view().inboxes[owner] + 2 * box * job.inbox_lines;
  }

  /// The end of the launch, of all threads: the next one has the next epoch.
  COLLMARK_DEVICE void close() const {
    block_barrier();  // all have read the epoch
    if (thread_index() == 0) block_.view().epochs[block_.channel()] = epoch_;
  }

  static COLLMARK_DEVICE std::int64_t lines_of(std::int64_t count) {
    return (count + Word::kSize - 1) / Word::kSize;
  }
  static COLLMARK_DEVICE Word word_of(const T* data, std::int64_t i, std::int64_t count) {
    Word word{};
    for (int k = 0; k < Word::kSize; ++k)
      if (i * Word::kSize + k < count) word.element[k] = data[i * Word::kSize + k];
    return word;
  }
  static COLLMARK_DEVICE void put(const Word& word, T* data, std::int64_t i, std::int64_t count) {
    for (int k = 0; k < Word::kSize; ++k)
      if (i * Word::kSize + k < count) data[i * Word::kSize + k] = word.element[k];
  }

 private:
  const Block& block_;
  std::uint32_t epoch_;
};

/// Line `i` of everybody, added in rank order; false if one never comes.
template <class T>
COLLMARK_DEVICE bool receive_all(const Block& me, const Inboxes<T>& boxes, std::int64_t i,
                                 typename Inboxes<T>::Word* sum) {
  const Reduction& what = me.job().what;
  if (!boxes.receive(0, 0, i, 0, sum)) return false;
  for (int sender = 1; sender < me.job().ranks; ++sender) {
    typename Inboxes<T>::Word word;
    if (!boxes.receive(0, sender, i, 0, &word)) return false;
    *sum = combined_units(what.op, *sum, word);
  }
  if (what.divisor > 0) *sum = divided_unit(*sum, what.divisor);
  return true;
}

/// Bytes of a run of elements, and of the lines that carry it.
template <class T>
COLLMARK_DEVICE std::int64_t data_bytes(Part x) {
  return x.count * static_cast<std::int64_t>(sizeof(T));
}
template <class T>
COLLMARK_DEVICE std::int64_t line_bytes(Part x) {
  return 16 * Inboxes<T>::lines_of(x.count);
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
  for (std::int64_t i = thread_index(); i < boxes.lines_of(x.count); i += thread_count()) {
    typename Inboxes<T>::Word sum;
    if (!receive_all(me, boxes, i, &sum)) break;
    boxes.put(sum, out, i, x.count);
  }
  if (thread_index() == 0) {
    note_pass(job.ranks * (data_bytes<T>(x) + line_bytes<T>(x)),
              job.ranks * line_bytes<T>(x) + data_bytes<T>(x));
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
  for (std::int64_t i = thread_index(); all && i < boxes.lines_of(mine.count);
       i += thread_count()) {
    typename Inboxes<T>::Word sum;
    all = receive_all(me, boxes, i, &sum);
    for (int d = 0; all && d < job.ranks; ++d)
      boxes.send_word(boxes.lines((me.rank() + d) % job.ranks, 1, me.rank()) + 2 * i, sum);
  }
  for (int owner = 0; all && owner < job.ranks; ++owner) {
    const Part x = me.chunk<T>(owner);
    for (std::int64_t i = thread_index(); all && i < boxes.lines_of(x.count); i += thread_count()) {
      typename Inboxes<T>::Word word;
      all = boxes.receive(1, owner, i, 1, &word);
      if (all) boxes.put(word, out + x.offset, i, x.count);
    }
  }
  for (int peer = 0; peer < job.ranks && thread_index() == 0; ++peer) {
    const Part theirs = me.chunk<T>(peer);
    note_pass(data_bytes<T>(theirs) + line_bytes<T>(mine) + line_bytes<T>(theirs),
              line_bytes<T>(theirs) + line_bytes<T>(mine) + data_bytes<T>(theirs));
    if (peer == me.rank()) continue;
    note_transfer({peer, me.rank(), mine.offset, mine.count});
    note_transfer({peer, me.rank(), theirs.offset, theirs.count});
  }
  boxes.close();
}

}  // namespace collmark
