/// A team of one: whoever measures drives all ranks of the collective itself.
#pragma once

#include <vector>

#include "bench/team.hpp"

namespace collmark {

class SoloTeam : public Team {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int ranks() const override { return 1; }
  void barrier() override {}
  [[nodiscard]] Start start_together() override { return {.at = Clock::now()}; }
  void broadcast(std::span<std::byte>) override {}
  [[nodiscard]] std::vector<std::byte> gather(std::span<const std::byte> mine) override {
    return {mine.begin(), mine.end()};
  }
};

}  // namespace collmark
