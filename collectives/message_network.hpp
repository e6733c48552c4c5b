/// For tests: a network between the ranks of one process that delivers in any order a real one may.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "collectives/message_run.hpp"

namespace collmark {

/// Segments of one pair meet in order, as Wire says. Everything else is left to chance: which pair is next,
/// whether a send is eager (its bytes leave at once) or waits until it has met its receive (they are read
/// then, so that whoever overwrites them too early is found out), and when and in which order a rank is told
/// what has completed.
class MessageNetwork {
 public:
  MessageNetwork(int ranks, std::uint64_t seed)
      : ranks_(ranks), random_(seed), pairs_(at(ranks) * at(ranks)), told_(at(ranks)) {
    for (int r = 0; r < ranks; ++r) ends_.push_back(std::make_unique<End>(*this, r));
  }

  [[nodiscard]] Wire& wire(int rank) { return *ends_[at(rank)]; }

  /// The most receives that were ever posted at once for one pair.
  [[nodiscard]] std::size_t most_posted() const { return most_posted_; }

  /// Advances and delivers until all have finished one operation. Returns who is stuck with whom, or
  /// what is left over; empty: all is well.
  std::string drive(const std::vector<std::unique_ptr<MessageRun>>& runs) {
    std::vector<MessageRun*> busy;
    for (const auto& run : runs) busy.push_back(run.get());
    for (MessageRun* run : busy) run->start();
    while (!busy.empty()) {
      std::shuffle(busy.begin(), busy.end(), random_);
      const bool news = anything_to_tell();
      const bool finished = std::erase_if(busy, [](MessageRun* run) { return run->advance(); }) > 0;
      bool delivered = false;
      while (deliver_one() && chance(3)) delivered = true;
      if (delivered || finished || news || anything_to_tell()) continue;
      std::string stuck;
      for (const MessageRun* run : busy) stuck += run->blocked() + "; ";
      return stuck;
    }
    for (const Pair& p : pairs_)
      if (!p.sent.empty() || !p.posted.empty()) return "a segment is left over";
    return {};
  }

 private:
  using Pieces = std::vector<Extent>;

  struct Sent {
    std::vector<std::byte> bytes;    // of an eager one
    const Pieces* pieces = nullptr;  // of one that waits
    Ticket ticket = {};
  };
  struct Posted {
    const Pieces* pieces;
    Ticket ticket;
  };
  struct Pair {
    std::deque<Sent> sent;
    std::deque<Posted> posted;
  };

  class End final : public Wire {
   public:
    End(MessageNetwork& network, int rank) : network_(network), rank_(rank) {}

    int prepare(std::span<const Extent> pieces) override {
      segments_.emplace_back(pieces.begin(), pieces.end());
      return static_cast<int>(segments_.size()) - 1;
    }
    void send(int peer, int segment, const Ticket& ticket) override {
      network_.send(rank_, peer, segments_[at(segment)], ticket);
    }
    void receive(int peer, int segment, const Ticket& ticket) override {
      std::deque<Posted>& posted = network_.pair(peer, rank_).posted;
      posted.push_back({&segments_[at(segment)], ticket});
      network_.most_posted_ = std::max(network_.most_posted_, posted.size());
    }
    std::span<const Completed> poll() override {
      completed_ = network_.tell(rank_);
      return completed_;
    }

   private:
    MessageNetwork& network_;
    int rank_;
    std::deque<Pieces> segments_;  // a deque: they stay where they are
    std::vector<Completed> completed_;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] bool chance(int one_in) {
    return random_() % static_cast<std::uint64_t>(one_in) == 0;
  }
  Pair& pair(int src, int dst) { return pairs_[at(src) * at(ranks_) + at(dst)]; }

  static std::vector<std::byte> gather(const Pieces& pieces) {
    std::vector<std::byte> bytes;
    for (const Extent& p : pieces) bytes.insert(bytes.end(), p.data, p.data + p.size);
    return bytes;
  }

  void send(int src, int dst, const Pieces& pieces, const Ticket& ticket) {
    if (!chance(2)) {
      pair(src, dst).sent.push_back({.bytes = {}, .pieces = &pieces, .ticket = ticket});
      return;
    }
    std::vector<std::byte> bytes = gather(pieces);
    told_[at(src)].push_back({.ticket = ticket, .bytes = bytes.size()});
    pair(src, dst).sent.push_back({.bytes = std::move(bytes)});
  }

  /// One segment of one pair that has both ends; false if there is none.
  bool deliver_one() {
    std::vector<int> ready;
    for (int i = 0; i < ranks_ * ranks_; ++i)
      if (!pairs_[at(i)].sent.empty() && !pairs_[at(i)].posted.empty()) ready.push_back(i);
    if (ready.empty()) return false;
    const int chosen = ready[random_() % ready.size()];
    Pair& p = pairs_[at(chosen)];
    const Sent sent = std::move(p.sent.front());
    const Posted posted = p.posted.front();
    p.sent.pop_front();
    p.posted.pop_front();
    const std::vector<std::byte> bytes = sent.pieces ? gather(*sent.pieces) : sent.bytes;
    const std::byte* from = bytes.data();
    std::size_t left = bytes.size();
    for (const Extent& to : *posted.pieces) {
      const std::size_t some = std::min(left, to.size);
      std::copy_n(from, some, to.data);
      from += some;
      left -= some;
    }
    told_[at(chosen % ranks_)].push_back({.ticket = posted.ticket, .bytes = bytes.size()});
    if (sent.pieces)
      told_[at(chosen / ranks_)].push_back({.ticket = sent.ticket, .bytes = bytes.size()});
    return true;
  }

  [[nodiscard]] bool anything_to_tell() const {
    return std::any_of(told_.begin(), told_.end(), [](const auto& t) { return !t.empty(); });
  }

  /// Some of what has completed at this rank, in any order.
  std::vector<Completed> tell(int rank) {
    std::vector<Completed>& all = told_[at(rank)];
    std::shuffle(all.begin(), all.end(), random_);
    const std::size_t some = all.empty() ? 0 : 1 + random_() % all.size();
    std::vector<Completed> now(all.end() - static_cast<std::ptrdiff_t>(some), all.end());
    all.resize(all.size() - some);
    return now;
  }

  int ranks_;
  std::mt19937_64 random_;
  std::vector<Pair> pairs_;                   // [src * ranks + dst]
  std::vector<std::vector<Completed>> told_;  // [rank]: to be told
  std::vector<std::unique_ptr<End>> ends_;    // [rank]
  std::size_t most_posted_ = 0;
};

}  // namespace collmark
