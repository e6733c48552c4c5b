/// Ring all-reduce, reduce-scatter and all-gather: every rank always sends to the next.
///
///   rank r    sends  r-1, r-2, ...          chunks, as they grow            reduce-scatter: p-1 steps
///             completes r                   and at once hands it on
///             passes r-1, r-2, ...  on      complete ones                   all-gather: p-1 steps
///
///   Schedule  collectives/ring.cpp; each channel runs it on its share of every chunk, a slot at a time.
///   Bytes     S(6p-4) loads and stores over all p ranks of S bytes for all-reduce; S(3p-1) for reduce-scatter
///             and for all-gather. By lines S(10p-8) and S(5p-3): what crosses a link is stored and loaded with its flags.
///   Needs     p >= 2 (a single rank is the interpreter's) and 2 slots: with one, all would wait for the slot that
///             only the next can free.
#pragma once

#include "kernels/links.hpp"

namespace collmark {

/// Where a rank stands in the ring.
struct RingPlace {
  int p, r;
  COLLMARK_DEVICE explicit RingPlace(const Block& me) : p(me.job().ranks), r(me.rank()) {}
  /// The rank, or the chunk, so many places before.
  COLLMARK_DEVICE int before(int distance) const { return (r - distance + 2 * p) % p; }
  COLLMARK_DEVICE Peer previous() const { return {before(1)}; }
  COLLMARK_DEVICE Peer next() const { return {(r + 1) % p}; }
};

template <class T, Protocol kProtocol = Protocol::simple>
COLLMARK_KERNEL void ring_all_reduce(Job job) {
  const Block me(job);
  Links<T, kProtocol> links(me);
  const RingPlace ring(me);
  const Peer previous = ring.previous(), next = ring.next();
  const int p = ring.p, r = ring.r;
  for (std::int64_t i = 0; i < links.pieces(me.longest<T>()); ++i) {
    const auto chunk = [&](int c) { return links.piece(me.chunk<T>(c), i); };
    bool ok = links.send(next, chunk(ring.before(1)), 0);
    for (int d = 2; ok && d < p; ++d)
      ok = links.recv_reduce_send(previous, next, chunk(ring.before(d)), d - 2);
    ok = ok && links.recv_reduce_copy_send(previous, next, chunk(r), p - 2);
    for (int d = 1; ok && d < p - 1; ++d)
      ok = links.recv_copy_send(previous, next, chunk(ring.before(d)), p - 2 + d);
    ok = ok && links.recv_copy(previous, chunk(ring.before(p - 1)), 2 * p - 3);
    if (!ok) return;
  }
}

/// Rank r ends with chunk r.
template <class T, Protocol kProtocol = Protocol::simple>
COLLMARK_KERNEL void ring_reduce_scatter(Job job) {
  const Block me(job);
  Links<T, kProtocol> links(me);
  const RingPlace ring(me);
  for (std::int64_t i = 0; i < links.pieces(me.longest<T>()); ++i) {
    const auto chunk = [&](int c) { return links.piece(me.chunk<T>(c), i); };
    bool ok = links.send(ring.next(), chunk(ring.before(1)), 0);
    for (int d = 2; ok && d < ring.p; ++d)
      ok = links.recv_reduce_send(ring.previous(), ring.next(), chunk(ring.before(d)), d - 2);
    if (!ok || !links.recv_reduce_copy(ring.previous(), chunk(ring.r), ring.p - 2)) return;
  }
}

/// Rank r brings chunk r.
template <class T, Protocol kProtocol = Protocol::simple>
COLLMARK_KERNEL void ring_all_gather(Job job) {
  const Block me(job);
  Links<T, kProtocol> links(me);
  const RingPlace ring(me);
  for (std::int64_t i = 0; i < links.pieces(me.longest<T>()); ++i) {
    const auto chunk = [&](int c) { return links.piece(me.chunk<T>(c), i); };
    bool ok = links.copy_send(ring.next(), chunk(ring.r), 0);
    for (int d = 1; ok && d < ring.p - 1; ++d)
      ok = links.recv_copy_send(ring.previous(), ring.next(), chunk(ring.before(d)), d - 1);
    if (!ok || !links.recv_copy(ring.previous(), chunk(ring.before(ring.p - 1)), ring.p - 2))
      return;
  }
}

// The same with low latency.

template <class T>
COLLMARK_KERNEL void ring_ll_all_reduce(Job job) {
  ring_all_reduce<T, Protocol::low_latency>(job);
}
template <class T>
COLLMARK_KERNEL void ring_ll_reduce_scatter(Job job) {
  ring_reduce_scatter<T, Protocol::low_latency>(job);
}
template <class T>
COLLMARK_KERNEL void ring_ll_all_gather(Job job) {
  ring_all_gather<T, Protocol::low_latency>(job);
}

}  // namespace collmark
