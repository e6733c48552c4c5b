/// One block of a kernel: a rank's channel, whom it waits for, and how all ranks meet.
#pragma once

#include "kernels/job.hpp"

namespace collmark {

class Block {
 public:
  COLLMARK_DEVICE explicit Block(const Job& job)
      : job_(job),
        rank_(job.rank_base + block_index() / job.channels),
        channel_(block_index() % job.channels),
        view_(job.views[block_index() / job.channels]) {}

  [[nodiscard]] COLLMARK_DEVICE const Job& job() const { return job_; }
  [[nodiscard]] COLLMARK_DEVICE const RankView& view() const { return view_; }
  [[nodiscard]] COLLMARK_DEVICE int rank() const { return rank_; }
  [[nodiscard]] COLLMARK_DEVICE int channel() const { return channel_; }

  /// This channel's share of chunk c.
  template <class T>
  [[nodiscard]] COLLMARK_DEVICE Part chunk(int c) const {
    return share(chunk_of(job_.count, job_.chunks, c), channel_, job_.channels, Pack<T>::kSize);
  }
  /// At least as long as any channel's share of any chunk.
  template <class T>
  [[nodiscard]] COLLMARK_DEVICE Part longest() const {
    return share(chunk_of(job_.count, job_.chunks, 0), 0, job_.channels, Pack<T>::kSize);
  }

  [[nodiscard]] COLLMARK_DEVICE Patience patience(Awaited what, int peer, int step) const {
    return {.given_up = job_.given_up,
            .stuck = &job_.stuck[block_index()],
            .longest = job_.longest_wait,
            .wait = {.what = what, .rank = rank_, .peer = peer, .channel = channel_, .step = step}};
  }

  /// All ranks' blocks of this channel have come here; what each did before is seen by all. False once anybody has
  /// waited too long.
  COLLMARK_DEVICE bool meet(int step) {
    const std::uint32_t now = view_.meetings[channel_] + 1;
    const auto line = static_cast<std::int64_t>(channel_) * job_.ranks;
    block_barrier();  // everything this block did comes before its flags, and all have read the count
    bool here = true;
    for (int peer = thread_index(); peer < job_.ranks; peer += thread_count()) {
      store_release(&view_.arrived[peer][line + rank_], now);
      const Patience patience = this->patience(Awaited::arrival, peer, step);
      if (!wait_for(&view_.arrived[rank_][line + peer], now, patience)) here = false;
    }
    if (thread_index() == 0) view_.meetings[channel_] = now;
    return block_all(here);
  }

 private:
  const Job& job_;
  int rank_, channel_;
  const RankView& view_;
};

}  // namespace collmark
