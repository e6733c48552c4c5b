/// A team whose waits a watchdog sees.
#pragma once

#include <memory>
#include <utility>

#include "bench/team.hpp"
#include "bench/watchdog.hpp"

namespace collmark {

class WatchedTeam final : public Team {
 public:
  WatchedTeam(Team& team, Watchdog& dog) : team_(team), dog_(dog) {}

  [[nodiscard]] int rank() const override { return team_.rank(); }
  [[nodiscard]] int ranks() const override { return team_.ranks(); }
  void barrier() override {
    const Watched watched(dog_, "for the other ranks in a barrier");
    team_.barrier();
  }
  [[nodiscard]] Start start_together() override {
    const Watched watched(dog_, "for the other ranks to start an operation");
    return team_.start_together();
  }
  void broadcast(std::span<std::byte> bytes) override {
    const Watched watched(dog_, "for what rank 0 decides");
    team_.broadcast(bytes);
  }
  [[nodiscard]] std::vector<std::byte> gather(std::span<const std::byte> mine) override {
    const Watched watched(dog_, "for the other ranks to report");
    return team_.gather(mine);
  }

 private:
  Team& team_;
  Watchdog& dog_;
};

}  // namespace collmark
