/// Moves over links: how blocks hand data to each other through slots.
///
///   sources, in this order                destinations
///     own       this rank's input           keep    this rank's output
///     from      what these peers sent       to      the next free slot of these peers
///
///   wait until every slot is there ──> one pass ──> say so to every peer
///
/// The five verbs of NCCL's primitives are moves with at most one peer at each end; a node of a tree has several.
#pragma once

#include "kernels/block.hpp"

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

inline constexpr int kMostPeers = 63;  // of a move

template <class T>
class Links {
 public:
  /// A channel's links; the root of a tree receives on one channel and sends on the next.
  COLLMARK_DEVICE Links(const Block& block, int from_channel, int to_channel)
      : block_(block), from_(from_channel), to_(to_channel) {}
  COLLMARK_DEVICE explicit Links(const Block& block)
      : Links(block, block.channel(), block.channel()) {}

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
    constexpr int kAdd = kOwn == Own::add || kOwn == Own::add_and_keep ? 1 : 0;
    constexpr int kKeep = kOwn == Own::keep || kOwn == Own::add_and_keep ? 1 : 0;
    constexpr int kSources = From::kCount < 0 ? -1 : kAdd + From::kCount;
    constexpr int kDestinations = To::kCount < 0 ? -1 : kKeep + To::kCount;
    T** const sources = pointers();
    T** const destinations = sources + kMostPeers + 1;
    std::uint32_t* const counts = counts_of_ends();
    if (thread_index() == 0) {
      if (kAdd != 0) sources[0] = own(block_.view().inputs, x);
      if (kKeep != 0) destinations[0] = own(block_.view().outputs, x);
    }
    bool ready = true;  // thread i waits for end i
    for (int i = thread_index(); i < from.count() + to.count(); i += thread_count()) {
      const bool receives = i < from.count();
      const Link& link = receives ? incoming(from[i]) : outgoing(to[i - from.count()]);
      const std::uint32_t n = *link.passed;
      if (receives) {
        ready &= wait_for(link.tail, n + 1, block_.patience(from[i], step));
        sources[kAdd + i] = in_slot(link, n, x);
      } else {
        const auto slots = static_cast<std::uint32_t>(block_.job().slots);
        ready &= wait_for(link.head, n + 1 - slots, block_.patience(to[i - from.count()], step));
        destinations[kKeep + i - from.count()] = in_slot(link, n, x);
      }
      *link.passed = counts[i] = n + 1;
    }
    if (!block_all(ready)) return false;  // makes each thread's acquire everybody's
    pass<T>(listed<kSources, const T>(sources, kAdd + from.count()),
            listed<kDestinations, T>(destinations, kKeep + to.count()), x.count, block_.job().what,
            value);
    block_barrier();  // all have loaded and stored before anybody is told
    for (int i = thread_index(); i < from.count() + to.count(); i += thread_count()) {
      if (i < from.count()) {
        note_transfer({from[i], block_.rank(), x.offset, x.count});
        store_release(incoming(from[i]).head,
                      counts[i]);  // pairs with the sender's wait for a slot
      } else {
        store_release(outgoing(to[i - from.count()]).tail, counts[i]);  // with the wait for data
      }
    }
    return true;
  }

 private:
  /// Where the threads tell each other what they have waited for.
  static COLLMARK_DEVICE T** pointers() {
    COLLMARK_SHARED(T*, list, 2 * (kMostPeers + 1));
    return list;
  }

  /// What each end's own count has come to. Not link.passed itself: by now the next move's thread may have counted on.
  static COLLMARK_DEVICE std::uint32_t* counts_of_ends() {
    COLLMARK_SHARED(std::uint32_t, list, 2 * kMostPeers);
    return list;
  }

  [[nodiscard]] COLLMARK_DEVICE const Link& incoming(int peer) const {
    return block_.view().from[peer * block_.job().channels + from_];
  }
  [[nodiscard]] COLLMARK_DEVICE const Link& outgoing(int peer) const {
    return block_.view().to[peer * block_.job().channels + to_];
  }
  [[nodiscard]] COLLMARK_DEVICE T* own(std::byte* const* buffers, Part x) const {
    return reinterpret_cast<T*>(buffers[block_.rank()]) + x.offset;
  }
  /// Data lies in a slot as it lies in a buffer that begins with a pack, so that it moves in packs.
  [[nodiscard]] COLLMARK_DEVICE T* in_slot(const Link& link, std::uint32_t passed, Part x) const {
    const Job& job = block_.job();
    std::byte* const slot =
        link.slots +
        static_cast<std::size_t>(passed % static_cast<std::uint32_t>(job.slots)) * job.slot_bytes;
    return reinterpret_cast<T*>(slot + static_cast<std::size_t>(x.offset) * sizeof(T) % 16);
  }

  const Block& block_;
  int from_, to_;
};

}  // namespace collmark
