/// All-reduce by ranks that reach each other's memory: whoever owns a chunk reads it from all and stores it to all, in one
/// pass.
///
///   parameter_server          one chunk, owned by rank 0            chunks 1
///   sharded_parameter_server  k chunks, owned by k servers          chunks k, servers k
///   two_shot                  a chunk for each rank                 chunks p
///   one_shot                  everybody owns everything, and stores to itself
///
/// The ranks of a launch own a run of chunks, and all its blocks share that run, whichever ranks they are blocks of:
///
///   one GPU, 3 ranks of 2 blocks        a GPU for each rank
///   owned     |000000000000000000|      |000000000000000000|   rank 0's chunk, the only one
///   blocks     00 01 10 11 20 21         000000   111111       rank 0's, who has its GPU for itself
///
/// They reach the same memory, and if an owner's own blocks alone worked, most of the one GPU would idle while the
/// server's few read and store everything. What a block moves out of a chunk counts as its owner's: journeys and
/// bytes are those of the schedule. What the ranks' number of blocks says of an owner's speed, several GPUs show.
/// It does not matter which block moves what: each channel has met all ranks before it begins, whose inputs
/// were ready before any of their blocks began, and no rank ends before all its channels have met the others'.
///
///   Order     the contributors' rank order.
///   Bytes     2 p S loads and stores for p ranks of S bytes; one_shot p(p+1) S, and 2pS more for its
///             staging in place.
///   Source    as collectives/parameter_server.cpp and collectives/direct.cpp.
#pragma once

#include "kernels/block.hpp"

namespace collmark {

/// Says of ranks [first, last) that x came from them to its owner, or went to them.
COLLMARK_DEVICE void note_transfers(int owner, int first, int last, Part x, bool came) {
  for (int peer = first; peer < last; ++peer)
    if (peer != owner) note_transfer({came ? peer : owner, came ? owner : peer, x.offset, x.count});
}

/// The chunks that ranks of this launch own, which follow each other.
COLLMARK_DEVICE Part owned_by_launch(const Job& job) {
  const int end = job.rank_base + job.held < job.chunks ? job.rank_base + job.held : job.chunks;
  if (end <= job.rank_base) return {job.count, 0};
  const Part first = chunk_of(job.count, job.chunks, job.rank_base);
  const Part last = chunk_of(job.count, job.chunks, end - 1);
  return {first.offset, last.offset + last.count - first.offset};
}

/// Of every contributor, to the owners and from them, what lies in x.
COLLMARK_DEVICE void note_for_owners(const Job& job, Part x) {
  if (thread_index() != 0 || !notes_transfers()) return;
  for (int owner = job.rank_base; owner < job.rank_base + job.held && owner < job.chunks; ++owner) {
    const Part both = common(chunk_of(job.count, job.chunks, owner), x);
    if (both.count == 0) continue;
    note_transfers(owner, job.servers, job.ranks, both, true);
    note_transfers(owner, job.servers, job.ranks, both, false);
  }
}

template <class T>
COLLMARK_KERNEL void direct_all_reduce(Job job) {
  Block me(job);
  if (!me.meet(0)) return;  // all inputs are there, and nobody uses the outputs any more
  const Part x =
      share(owned_by_launch(job), block_index(), job.held * job.channels, Pack<T>::kSize);
  if (x.count > 0) {
    pass<T>(OfRanks<const T>{me.view().inputs, x.offset, job.servers, job.ranks},
            OfRanks<T>{me.view().outputs, x.offset, job.servers, job.ranks}, x.count, job.what,
            Value::complete);
    note_for_owners(job, x);
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
  if (thread_index() == 0 && notes_transfers()) note_transfers(me.rank(), 0, job.ranks, x, true);
  (void)me.meet(1);
}

}  // namespace collmark
