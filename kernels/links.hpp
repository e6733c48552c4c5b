/// Moves over links: how blocks hand data to each other through slots.
///
///   sources, in this order                destinations
///     own       this rank's input           keep    this rank's output
///     from      what these peers sent       to      the next free slot of these peers
///
///   simple         wait until every slot is full or free ──> one pass ──> say so to every peer
///   low latency    wait until every slot to fill is free ──> line by line, as they come ──> say what is free again
///
/// The five verbs of NCCL's primitives are moves with at most one peer at each end; a node of a tree has several.
///
///   slot of lines (line.hpp), the n-th that a link fills    | data 0 | n | data 1 | n |  ...
///
///   Where the simple protocol has to wait for a whole slot, its flag and a barrier, here a word goes on as soon as it has come
///   from all. In exchange twice the bytes go over the wire. Whether a slot is free is told by the same count, so nobody
///   overwrites what is still read; nothing is ever cleared: n is 1 at first, and once it wraps to 0, what fresh memory holds,
///   each line that is ever read has been written.
///   Source    the protocols of NCCL 2.x, Simple and LL; Hu et al. 2025, "Demystifying NCCL", arXiv 2507.04786.
#pragma once

#include "kernels/block.hpp"
#include "kernels/line.hpp"

namespace collmark {

// Whom a move takes from or gives to. kCount is negative where only the run knows.
struct Nobody {
  static constexpr int kCount = 0;
  static constexpr COLLMARK_DEVICE int count() { return 0; }
  COLLMARK_DEVICE int operator[](int) const { return -1; }
};
struct Peer {
  static constexpr int kCount = 1;
  int rank;
  static constexpr COLLMARK_DEVICE int count() { return 1; }
  COLLMARK_DEVICE int operator[](int) const { return rank; }
};
struct Peers {
  static constexpr int kCount = -1;
  const int* ranks;
  int size;
  COLLMARK_DEVICE int count() const { return size; }
  COLLMARK_DEVICE int operator[](int i) const { return ranks[i]; }
};

/// This rank's own part in a move: its input is added first, its output is written too.
enum class Own { none, add, keep, add_and_keep };
// 1 or 0.
template <Own kOwn>
inline constexpr int kAdds = kOwn == Own::add || kOwn == Own::add_and_keep ? 1 : 0;
template <Own kOwn>
inline constexpr int kKeeps = kOwn == Own::keep || kOwn == Own::add_and_keep ? 1 : 0;

inline constexpr int kMostPeers = 63;  // of a move

template <class T, Protocol kProtocol = Protocol::simple>
class Links {
  static constexpr bool kByLines = kProtocol == Protocol::low_latency;
  using Unit = std::conditional_t<kByLines, std::uint64_t, T>;  // what a slot is made of

 public:
  /// A channel's links; the root of a tree receives on one channel and sends on the next.
  COLLMARK_DEVICE Links(const Block& block, int from_channel, int to_channel)
      : block_(block), from_(from_channel), to_(to_channel) {}
  COLLMARK_DEVICE explicit Links(const Block& block)
      : Links(block, block.channel(), block.channel()) {}

  // Lines order nothing but themselves. So where one channel of a rank reads what another replaces, in place, it says how
  // far it is: in the tail of the link that the other receives on, which lies at this rank and has no other use then.
  COLLMARK_DEVICE void are_read_before(int channel) { replaced_on_ = channel; }
  COLLMARK_DEVICE void replace_what_is_read() { replaces_ = true; }

  /// How many slots `longest` fills.
  [[nodiscard]] COLLMARK_DEVICE std::int64_t pieces(Part longest) const {
    const std::int64_t size = block_.job().slot_elements;
    return (longest.count + size - 1) / size;
  }
  [[nodiscard]] COLLMARK_DEVICE Part piece(Part part, std::int64_t index) const {
    return piece_of(part, block_.job().slot_elements, index);
  }

  // All say whether it was done: false once anybody has waited too long. `step` is for that report.

  COLLMARK_DEVICE bool send(Peer to, Part x, int step) {
    return move<Own::add>(Nobody{}, to, x, Value::partial, step);
  }
  COLLMARK_DEVICE bool copy_send(Peer to, Part x, int step) {
    return move<Own::add_and_keep>(Nobody{}, to, x, Value::partial, step);
  }
  COLLMARK_DEVICE bool recv_reduce_send(Peer from, Peer to, Part x, int step) {
    return move<Own::add>(from, to, x, Value::partial, step);
  }
  COLLMARK_DEVICE bool recv_reduce_copy_send(Peer from, Peer to, Part x, int step) {
    return move<Own::add_and_keep>(from, to, x, Value::complete, step);
  }
  COLLMARK_DEVICE bool recv_reduce_copy(Peer from, Part x, int step) {
    return move<Own::add_and_keep>(from, Nobody{}, x, Value::complete, step);
  }
  COLLMARK_DEVICE bool recv_copy_send(Peer from, Peer to, Part x, int step) {
    return move<Own::keep>(from, to, x, Value::partial, step);
  }
  COLLMARK_DEVICE bool recv_copy(Peer from, Part x, int step) {
    return move<Own::keep>(from, Nobody{}, x, Value::partial, step);
  }

  template <Own kOwn, class From, class To>
  COLLMARK_DEVICE bool move(From from, To to, Part x, Value value, int step) {
    const bool ready = wait_for_slots(from, to, x, step);
    if (!block_all(ready)) return false;  // makes each thread's acquire everybody's
    // All have loaded and stored before anybody is told.
    if constexpr (kByLines) {
      const bool all = pass_lines<kOwn>(from, to, x, value, step);
      if (!block_all(all)) return false;
    } else {
      pass_packs<kOwn>(from, to, x, value);
      block_barrier();
    }
    tell(from, to, x);
    return true;
  }

 private:
  /// Thread i waits for end i, and notes where its slot is.
  template <class From, class To>
  COLLMARK_DEVICE bool wait_for_slots(From from, To to, Part x, int step) const {
    if constexpr (!kByLines)
      if (thread_index() == 0) {
        sources()[0] = own(block_.view().inputs, x);
        destinations()[0] = own(block_.view().outputs, x);
      }
    bool ready = true;
    for (int i = thread_index(); i < from.count() + to.count(); i += thread_count()) {
      const bool receives = i < from.count();
      const int peer = receives ? from[i] : to[i - from.count()];
      const LinkEnd& link = receives ? incoming(peer) : outgoing(peer);
      const std::uint32_t n = *link.passed;
      const auto slots = static_cast<std::uint32_t>(block_.job().slots);
      if (!receives)
        ready &= wait_for(link.head, n + 1 - slots, block_.patience(Awaited::credit, peer, step));
      else if (!kByLines || replaces_)  // else the lines tell
        ready &= wait_for(link.tail, n + 1, block_.patience(Awaited::data, peer, step));
      (receives ? sources()[1 + i] : destinations()[1 + i - from.count()]) = in_slot(link, n, x);
      *link.passed = counts()[i] = n + 1;
    }
    return ready;
  }

  template <Own kOwn, class From, class To>
  COLLMARK_DEVICE void pass_packs(From from, To to, Part x, Value value) const {
    constexpr int kSources = From::kCount < 0 ? -1 : kAdds<kOwn> + From::kCount;
    constexpr int kDestinations = To::kCount < 0 ? -1 : kKeeps<kOwn> + To::kCount;
    pass<T>(listed<kSources, const T>(sources() + 1 - kAdds<kOwn>, kAdds<kOwn> + from.count()),
            listed<kDestinations, T>(destinations() + 1 - kKeeps<kOwn>, kKeeps<kOwn> + to.count()),
            x.count, block_.job().what, value);
  }

  /// Each word as soon as it has come from all. False if one never does.
  template <Own kOwn, class From, class To>
  COLLMARK_DEVICE bool pass_lines(From from, To to, Part x, Value value, int step) const {
    const auto here = listed<From::kCount, Unit>(sources() + 1, from.count());
    const auto there = listed<To::kCount, Unit>(destinations() + 1, to.count());
    const std::uint32_t *const flags = counts(), *const flags_there = flags + from.count();
    const Reduction& what = block_.job().what;
    if (thread_index() == 0)
      note_pass(kAdds<kOwn> * data_bytes<T>(x.count) + from.count() * line_bytes<T>(x.count),
                kKeeps<kOwn> * data_bytes<T>(x.count) + to.count() * line_bytes<T>(x.count));
    for (std::int64_t i = thread_index(); i < lines_of<T>(x.count); i += thread_count()) {
      LineData<T> word{};
      if (kAdds<kOwn> != 0) word = word_of(own(block_.view().inputs, x), i, x.count);
      for (int s = 0; s < from.count(); ++s) {
        LineData<T> theirs;
        const Patience patience = block_.patience(Awaited::data, from[s], step);
        if (!receive_word(line_at(here[s], i), flags[s], patience, &theirs)) return false;
        word = s + kAdds<kOwn> == 0 ? theirs : combined_units(what.op, word, theirs);
      }
      if (value == Value::complete && what.divisor > 0) word = divided_unit(word, what.divisor);
      for (int d = 0; d < to.count(); ++d) send_word(word, line_at(there[d], i), flags_there[d]);
      if (kKeeps<kOwn> != 0) put(word, own(block_.view().outputs, x), i, x.count);
    }
    return true;
  }

  /// Who sent that their slots are free again, and to whom was sent that theirs are full.
  template <class From, class To>
  COLLMARK_DEVICE void tell(From from, To to, Part x) const {
    for (int i = thread_index(); i < from.count() + to.count(); i += thread_count()) {
      const std::uint32_t count = counts()[i];  // not link.passed: it is another thread's
      if (i < from.count()) {
        note_transfer({from[i], block_.rank(), x.offset, x.count});
        store_release(incoming(from[i]).head, count);  // pairs with the sender's wait for a slot
      } else if (!kByLines) {
        store_release(outgoing(to[i - from.count()]).tail, count);  // with the wait for data
      } else if (replaced_on_ >= 0) {
        store_release(link_from(to[i - from.count()], replaced_on_).tail, count);  // with the same
      }
    }
  }

  // Where the threads tell each other what they have waited for: first a rank's own buffer, then the slots.
  static COLLMARK_DEVICE Unit** sources() {
    COLLMARK_SHARED(Unit*, list, 2 * (kMostPeers + 1));
    return list;
  }
  static COLLMARK_DEVICE Unit** destinations() { return sources() + kMostPeers + 1; }

  /// What each end's own count has come to. Not link.passed itself: by now the next move's thread may have counted on.
  static COLLMARK_DEVICE std::uint32_t* counts() {
    COLLMARK_SHARED(std::uint32_t, list, 2 * kMostPeers);
    return list;
  }

  [[nodiscard]] COLLMARK_DEVICE const LinkEnd& link_from(int peer, int channel) const {
    return block_.view().from[peer * block_.job().channels + channel];
  }
  [[nodiscard]] COLLMARK_DEVICE const LinkEnd& incoming(int peer) const {
    return link_from(peer, from_);
  }
  [[nodiscard]] COLLMARK_DEVICE const LinkEnd& outgoing(int peer) const {
    return block_.view().to[peer * block_.job().channels + to_];
  }
  [[nodiscard]] COLLMARK_DEVICE T* own(std::byte* const* buffers, Part x) const {
    return reinterpret_cast<T*>(buffers[block_.rank()]) + x.offset;
  }
  /// Data lies in a slot as it lies in a buffer that begins with a pack, so that it moves in packs. Lines lie from the
  /// beginning on.
  [[nodiscard]] COLLMARK_DEVICE Unit* in_slot(const LinkEnd& link, std::uint32_t passed,
                                              Part x) const {
    const Job& job = block_.job();
    std::byte* const slot =
        link.slots +
        static_cast<std::size_t>(passed % static_cast<std::uint32_t>(job.slots)) * job.slot_bytes;
    const std::size_t shift = kByLines ? 0 : static_cast<std::size_t>(x.offset) * sizeof(T) % 16;
    return reinterpret_cast<Unit*>(slot + shift);
  }

  const Block& block_;
  int from_, to_;
  int replaced_on_ = -1;
  bool replaces_ = false;
};

}  // namespace collmark
