/// All-reduce by ranks that reach each other's memory: whoever owns a chunk reads it from all and stores it to all, in one
/// pass.
///
///   parameter_server          one chunk, owned by rank 0            chunks 1
///   sharded_parameter_server  k chunks, owned by k servers          chunks k, servers k
///   two_shot                  a chunk for each rank                 chunks p
///   one_shot                  everybody owns everything, and stores to itself
///
///   Order     the contributors' rank order.
///   Bytes     2 p S loads and stores for p ranks of S bytes; one_shot p(p+1) S, and 2pS more for its
///             staging in place.
///   Source    as collectives/parameter_server.cpp and collectives/direct.cpp.
#pragma once

#include "kernels/block.hpp"

namespace collmark {

/// Says of ranks [first, last) that x came from them, or went to them.
COLLMARK_DEVICE void note_transfers(const Block& me, int first, int last, Part x, bool came) {
  if (thread_index() != 0 || !notes_transfers()) return;
  for (int peer = first; peer < last; ++peer)
    if (peer != me.rank())
      note_transfer({came ? peer : me.rank(), came ? me.rank() : peer, x.offset, x.count});
}

template <class T>
COLLMARK_KERNEL void direct_all_reduce(Job job) {
  Block me(job);
  if (!me.meet(0)) return;  // all inputs are there, and nobody uses the outputs any more
  if (me.rank() < job.chunks) {
    const Part x = me.chunk<T>(me.rank());
    pass<T>(OfRanks<const T>{me.view().inputs, x.offset, job.servers, job.ranks},
            OfRanks<T>{me.view().outputs, x.offset, job.servers, job.ranks}, x.count, job.what,
            Value::complete);
    note_transfers(me, job.servers, job.ranks, x, true);
    note_transfers(me, job.servers, job.ranks, x, false);
  }
  (void)me.meet(1);  // all is read and stored
}

template <class T>
COLLMARK_KERNEL void one_shot_all_reduce(Job job) {
  Block me(job);
  const Part x = me.chunk<T>(0);
  const RankView& view = me.view();
  std::byte* const* from = view.inputs;
  if (job.in_place) {  // others still read what the result replaces
    from = view.staging;
    pass<T>(OfRanks<const T>{view.inputs, x.offset, me.rank(), me.rank() + 1},
            OfRanks<T>{view.staging, x.offset, me.rank(), me.rank() + 1}, x.count, job.what,
            Value::partial);
  }
  if (!me.meet(0)) return;
  pass<T>(OfRanks<const T>{from, x.offset, 0, job.ranks},
          OfRanks<T>{view.outputs, x.offset, me.rank(), me.rank() + 1}, x.count, job.what,
          Value::complete);
  note_transfers(me, 0, job.ranks, x, true);
  (void)me.meet(1);
}

}  // namespace collmark
