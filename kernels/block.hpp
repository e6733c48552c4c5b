/// One block of a kernel: a rank's channel, and the moves it makes over its links.
///
///   send                    own            ──────────────> slot of the next
///   recv_reduce_send        own + slot     ──────────────> slot of the next
///   recv_reduce_copy_send   own + slot     ──> output, ──> slot of the next
///   recv_copy_send          slot           ──> output, ──> slot of the next
///   recv_copy               slot           ──> output
///
/// The five verbs are those of NCCL's primitives; here each is one pass between two waits.
#pragma once

#include "kernels/job.hpp"

namespace collmark {

template <class T>
class Block {
 public:
  COLLMARK_DEVICE explicit Block(const Job& job)
      : job_(job),
        rank_(job.rank_base + block_index() / job.channels),
        channel_(block_index() % job.channels),
        view_(job.views[block_index() / job.channels]) {
    if (view_.from == nullptr) return;
    from_ = view_.from[channel_];
    to_ = view_.to[channel_];
    received_ = *from_.passed;
    sent_ = *to_.passed;
    block_barrier();  // all have read the counts before leave() writes them
  }

  [[nodiscard]] COLLMARK_DEVICE int rank() const { return rank_; }
  [[nodiscard]] COLLMARK_DEVICE const RankView& view() const { return view_; }

  /// This channel's share of chunk c.
  [[nodiscard]] COLLMARK_DEVICE Part chunk(int c) const {
    return share(chunk_of(job_.count, job_.chunks, c), channel_, job_.channels, Pack<T>::kSize);
  }
  /// How many slots the longest share fills.
  [[nodiscard]] COLLMARK_DEVICE std::int64_t pieces() const {
    const Part longest =
        share(chunk_of(job_.count, job_.chunks, 0), 0, job_.channels, Pack<T>::kSize);
    return (longest.count + job_.slot_elements - 1) / job_.slot_elements;
  }
  [[nodiscard]] COLLMARK_DEVICE Part piece(int c, std::int64_t index) const {
    const Part all = chunk(c);
    const std::int64_t begin = index * job_.slot_elements;
    const std::int64_t left = all.count > begin ? all.count - begin : 0;
    return {all.offset + begin, left < job_.slot_elements ? left : job_.slot_elements};
  }

  // Each says whether it was done: false once anybody has waited too long.

  /// The first move of a piece.
  COLLMARK_DEVICE bool send(int c, std::int64_t index) {
    step_ = 0;
    return move(Ends::to, piece(c, index), [this](Part x) {
      pass<T>(Few<const T, 1>{{input(x)}}, Few<T, 1>{{slot_out(x)}}, x.count, job_.what,
              Value::partial);
    });
  }
  COLLMARK_DEVICE bool recv_reduce_send(int c, std::int64_t index) {
    return move(Ends::both, piece(c, index), [this](Part x) {
      pass<T>(Few<const T, 2>{{input(x), slot_in(x)}}, Few<T, 1>{{slot_out(x)}}, x.count, job_.what,
              Value::partial);
    });
  }
  COLLMARK_DEVICE bool recv_reduce_copy_send(int c, std::int64_t index) {
    return move(Ends::both, piece(c, index), [this](Part x) {
      pass<T>(Few<const T, 2>{{input(x), slot_in(x)}}, Few<T, 2>{{output(x), slot_out(x)}}, x.count,
              job_.what, Value::complete);
    });
  }
  COLLMARK_DEVICE bool recv_copy_send(int c, std::int64_t index) {
    return move(Ends::both, piece(c, index), [this](Part x) {
      pass<T>(Few<const T, 1>{{slot_in(x)}}, Few<T, 2>{{output(x), slot_out(x)}}, x.count,
              job_.what, Value::partial);
    });
  }
  COLLMARK_DEVICE bool recv_copy(int c, std::int64_t index) {
    return move(Ends::from, piece(c, index), [this](Part x) {
      pass<T>(Few<const T, 1>{{slot_in(x)}}, Few<T, 1>{{output(x)}}, x.count, job_.what,
              Value::partial);
    });
  }

  /// All ranks' blocks of this channel have come here; what each did before is seen by all.
  COLLMARK_DEVICE bool meet(int step) {
    COLLMARK_SHARED(std::uint32_t, lost, 1);
    const std::uint32_t now = view_.meetings[channel_] + 1;
    if (thread_index() == 0) *lost = 0;
    block_barrier();  // everything this block did comes before its flags
    for (int peer = thread_index(); peer < job_.ranks; peer += thread_count()) {
      const auto line = static_cast<std::int64_t>(channel_) * job_.ranks;
      store_release(&view_.arrived[peer][line + rank_], now);
      if (!wait_for(&view_.arrived[rank_][line + peer], now, patience(peer, step)))
        (void)claim(lost);
    }
    block_barrier();
    const bool all = *lost == 0;
    if (thread_index() == 0) view_.meetings[channel_] = now;
    block_barrier();  // nobody reads the count of the next meeting before it is written
    return all;
  }

  /// Keeps the counts for the next launch.
  COLLMARK_DEVICE void leave() {
    if (thread_index() != 0) return;
    *from_.passed = received_;
    *to_.passed = sent_;
  }

 private:
  /// Of the links, those that a move uses.
  enum class Ends { from, to, both };

  template <class Combine>
  COLLMARK_DEVICE bool move(Ends ends, Part x, Combine combine) {
    const bool receives = ends != Ends::to, sends = ends != Ends::from;
    if (!ready(ends)) return false;
    combine(x);
    block_barrier();  // all have stored before thread 0 says so
    received_ += receives ? 1 : 0;
    sent_ += sends ? 1 : 0;
    step_ += receives ? 1 : 0;
    if (thread_index() != 0) return true;
    if (sends) store_release(to_.tail, sent_);           // pairs with ready() there
    if (receives) store_release(from_.head, received_);  // pairs with ready() there
    return true;
  }

  [[nodiscard]] COLLMARK_DEVICE Wait patience(int peer, int step) const {
    return {.given_up = job_.given_up,
            .stuck = &job_.stuck[block_index()],
            .looks = job_.looks,
            .rank = rank_,
            .peer = peer,
            .step = step};
  }

  /// Thread 0 waits for the data and for a free slot; the barrier makes its acquire everybody's.
  COLLMARK_DEVICE bool ready(Ends ends) {
    COLLMARK_SHARED(int, may_go, 1);
    if (thread_index() == 0) {
      bool ok = true;
      if (ends != Ends::to) ok = wait_for(from_.tail, received_ + 1, patience(from_.peer, step_));
      if (ok && ends != Ends::from)
        ok = wait_for(to_.head, sent_ + 1 - static_cast<std::uint32_t>(job_.slots),
                      patience(to_.peer, step_));
      *may_go = ok ? 1 : 0;
    }
    block_barrier();
    return *may_go != 0;
  }

  [[nodiscard]] COLLMARK_DEVICE const T* input(Part x) const {
    return reinterpret_cast<const T*>(view_.inputs[rank_]) + x.offset;
  }
  [[nodiscard]] COLLMARK_DEVICE T* output(Part x) const {
    return reinterpret_cast<T*>(view_.outputs[rank_]) + x.offset;
  }
  /// Data lies in a slot as it lies in a buffer that begins with a pack, so that it moves in packs.
  [[nodiscard]] COLLMARK_DEVICE T* in_slot(const Link& link, std::uint32_t passed, Part x) const {
    std::byte* const slot =
        link.slots +
        static_cast<std::size_t>(passed % static_cast<std::uint32_t>(job_.slots)) * job_.slot_bytes;
    return reinterpret_cast<T*>(slot + static_cast<std::size_t>(x.offset) * sizeof(T) % 16);
  }
  [[nodiscard]] COLLMARK_DEVICE const T* slot_in(Part x) const {
    return in_slot(from_, received_, x);
  }
  [[nodiscard]] COLLMARK_DEVICE T* slot_out(Part x) const { return in_slot(to_, sent_, x); }

  const Job& job_;
  int rank_, channel_;
  const RankView& view_;
  Link from_, to_;
  std::uint32_t received_ = 0, sent_ = 0;
  int step_ = 0;  // of the schedule: receives of this piece so far
};

}  // namespace collmark
