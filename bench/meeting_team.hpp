/// For tests: a team of threads that meet at a std::barrier.
#pragma once

#include <algorithm>
#include <barrier>
#include <span>
#include <vector>

#include "bench/team.hpp"

namespace collmark {

/// What its ranks share.
struct Meeting {
  explicit Meeting(int n) : ranks(n), point(n), box(static_cast<std::size_t>(n)) {}
  int ranks;
  std::barrier<> point;
  std::vector<std::vector<std::byte>> box;
};

class MeetingTeam : public Team {
 public:
  MeetingTeam(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  int rank() const override { return rank_; }
  int ranks() const override { return meeting_.ranks; }
  void barrier() override { meeting_.point.arrive_and_wait(); }
  Start start_together() override {
    barrier();
    return {Clock::now(), late};
  }
  void broadcast(std::span<std::byte> bytes) override {
    if (rank_ == 0) meeting_.box[0].assign(bytes.begin(), bytes.end());
    barrier();
    std::copy(meeting_.box[0].begin(), meeting_.box[0].end(), bytes.begin());
    barrier();
  }
  std::vector<std::byte> gather(std::span<const std::byte> mine) override {
    meeting_.box[static_cast<std::size_t>(rank_)].assign(mine.begin(), mine.end());
    barrier();
    std::vector<std::byte> all;
    if (rank_ == 0)
      for (const auto& one : meeting_.box) all.insert(all.end(), one.begin(), one.end());
    barrier();
    return all;
  }
  bool late = false;

 private:
  Meeting& meeting_;
  int rank_;
};

}  // namespace collmark
