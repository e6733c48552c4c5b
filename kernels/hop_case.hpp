/// For tests: two blocks on the CPU grid that throw a word to and fro.
#pragma once

#include <array>
#include <string>

#include "kernels/cpu_kernels.hpp"
#include "kernels/hang.hpp"
#include "kernels/hop.hpp"
#include "kernels/on_cpu/grid.hpp"

namespace collmark {

inline constexpr std::array kHopKernels{"flag_hops", "low_latency_hops", "word_hops"};

/// Both ends, and what they leave behind.
struct HopEnds {
  std::array<Mailbox, 2> boxes{};
  std::array<std::uint32_t, 2> wrong{};
  std::array<Stuck, 2> stuck{};
  std::uint32_t given_up = 0;
  Hops what;

  /// After so many trips.
  explicit HopEnds(std::uint32_t begun) {
    what = {.boxes = {&boxes[0], &boxes[1]},
            .begun = begun,
            .trips = 20,
            .wrong = wrong.data(),
            .given_up = &given_up,
            .stuck = stuck.data()};
    for (Mailbox& box : boxes) {
      box.flag = begun;
      box.word = box.line[0] = box.line[1] = std::uint64_t{begun} << 32;
    }
  }
  HopEnds(const HopEnds&) = delete;
  HopEnds& operator=(const HopEnds&) = delete;

  /// One launch, and what is wrong after it; empty if nothing is.
  std::string run(const char* kernel, const grid::Launch& launch) {
    const CpuKernel* const found = cpu_kernel(kernel);
    (void)grid::run(launch, [&] { found->run(&what); });
    what.begun += static_cast<std::uint32_t>(what.trips);
    if (std::string said = hang(stuck, 1); !said.empty()) return said;
    return wrong[0] != 0 || wrong[1] != 0 ? std::string(kernel) + " differs" : "";
  }
};

}  // namespace collmark
