/// Flags that wrap around, and waits that end.
///
/// A flag counts: 32 bits, up by one, never reset, kept in memory from launch to launch. It wraps after 2^32 steps, so
/// "has reached" is asked of the difference.
#pragma once

#include <cstdint>

#include "kernels/platform.hpp"

namespace collmark {

/// Has a caught up with b?
COLLMARK_DEVICE bool reached(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) >= 0;
}

/// What a block waited for in vain; each block has its own.
struct Stuck {
  std::uint32_t claimed = 0;   // by one of its threads
  std::uint32_t complete = 0;  // the rest may be read
  std::int32_t rank = 0, peer = 0, step = 0;
};

/// What a wait is for, and for how long.
struct Patience {
  std::uint32_t* given_up;  // of the launch: everybody who waits looks at it, and leaves too
  Stuck* stuck;
  std::uint32_t looks;  // before giving up, at least 1
  int rank, peer, step;
};

/// All that wait say so, not only the first: it is seldom the one whose peer is at fault.
COLLMARK_DEVICE void give_up(const Patience& w) {
  (void)claim(w.given_up);
  if (!claim(&w.stuck->claimed)) return;
  w.stuck->rank = w.rank;
  w.stuck->peer = w.peer;
  w.stuck->step = w.step;
  store_release(&w.stuck->complete, 1);  // pairs with the end of the kernel, or the host's acquire
}

/// Until `here()` holds. False if it never did, or if somebody else has given up.
template <class Here>
COLLMARK_DEVICE bool wait_until(Here here, const Patience& w) {
  constexpr std::uint32_t kBetweenLooks = 1024;
  for (std::uint32_t look = 0; !here(); ++look) {
    const bool others_left = (look + 1) % kBetweenLooks == 0 && load_relaxed(w.given_up) != 0;
    if (others_left || look == w.looks) return give_up(w), false;
    stay("a flag");
  }
  progress();
  return true;
}

/// Until the flag has reached `value`.
COLLMARK_DEVICE bool wait_for(std::uint32_t* flag, std::uint32_t value, const Patience& w) {
  return wait_until([=] { return reached(load_acquire(flag), value); }, w);
}

}  // namespace collmark
