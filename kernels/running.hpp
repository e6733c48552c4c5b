/// A small collective on the stub driver with the clock that waits for it, for tests of either.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/gpu_clock.hpp"
#include "kernels/launch.hpp"

namespace collmark {

inline constexpr GpuTuning kSmall{.channels = 2, .threads = 4};

/// An all-reduce of f32 by the ring.
inline KernelTask ring(int ranks, std::int64_t count) {
  return {.name = {"ring"}, .ranks = ranks, .payload = {.count = {count}}};
}

/// Ready to run: what its ranks share is zero everywhere.
struct Running {
  Running(Gpus& gpus, const KernelTask& task)
      : collective(gpus, task, kSmall), clock(streams(), HostPatience{}) {
    clock.finish();
  }
  std::vector<GpuStream*> streams() {
    std::vector<GpuStream*> all;
    for (int d = 0; d < collective.devices(); ++d) all.push_back(&collective.stream(d));
    return all;
  }
  GpuCollective collective;
  GpuClock clock;
};

}  // namespace collmark
