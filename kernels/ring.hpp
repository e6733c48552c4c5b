/// Ring all-reduce: 2(p-1) steps around one ring, every rank always sending to the next.
///
///   rank r    sends  r-1, r-2, ...          chunks, as they grow
///             completes r                   and at once hands it on
///             passes r-1, r-2, ...  on      complete ones
///
///   Schedule  collectives/ring.cpp; each channel runs it on its share of every chunk, a slot at a time.
///   Bytes     S(6p-4) loads and stores over all p ranks, S bytes each.
///   Needs     p >= 2 (a single rank is direct_all_reduce's) and 2 slots: with one, all would wait for the slot that
///             only the next can free.
#pragma once

#include "kernels/block.hpp"

namespace collmark {

template <class T>
COLLMARK_KERNEL void ring_all_reduce(Job job) {
  Block<T> me(job);
  const int p = job.ranks, r = me.rank();
  const auto before = [=](int distance) { return (r - distance + 2 * p) % p; };
  for (std::int64_t i = 0; i < me.pieces(); ++i) {
    bool ok = me.send(before(1), i);
    for (int d = 2; d < p; ++d) ok = ok && me.recv_reduce_send(before(d), i);
    ok = ok && me.recv_reduce_copy_send(r, i);
    for (int d = 1; d < p - 1; ++d) ok = ok && me.recv_copy_send(before(d), i);
    ok = ok && me.recv_copy(before(p - 1), i);
    if (!ok) return;
  }
  me.leave();
}

}  // namespace collmark
