/// Flags that wrap around, and waits that end: whoever has waited too long gives up, and so do all others.
///
/// A flag counts: 32 bits, up by one, never reset, kept in memory from launch to launch. It wraps after 2^32 steps, so
/// "has reached" is asked of the difference.
#pragma once

#include <cstdint>

#include "kernels/flag_wait.hpp"
#include "kernels/platform.hpp"

namespace collmark {

/// Has a caught up with b?
COLLMARK_DEVICE bool reached(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) >= 0;
}

/// Two words whose upper halves are to be `flag`: that of the word that has not come, if one has.
COLLMARK_DEVICE std::uint32_t flag_of_both(std::uint64_t a, std::uint64_t b, std::uint32_t flag) {
  return static_cast<std::uint32_t>((a >> 32 == flag ? b : a) >> 32);
}

inline constexpr std::int64_t kLongestWait = 30'000'000'000;  // [ns], unless the host says

/// What a block waited for in vain; each block has its own.
struct Stuck {
  std::uint32_t claimed = 0;   // by one of its threads
  std::uint32_t complete = 0;  // the rest may be read
  FlagWait wait;
};

/// What a wait is for, and for how long.
struct Patience {
  std::uint32_t* given_up;  // of the launch: everybody who waits looks at it, and leaves too
  Stuck* stuck;
  std::int64_t longest;  // [ns]
  FlagWait wait;
};

/// All that wait say so, not only the first: it is seldom the one whose peer is at fault.
COLLMARK_DEVICE void give_up(const Patience& w, const FlagWait& wait) {
  (void)claim(w.given_up);
  if (!claim(&w.stuck->claimed)) return;
  w.stuck->wait = wait;
  store_release(&w.stuck->complete, 1);  // pairs with the end of the kernel, or the host's acquire
}

/// Of a wait whose clock runs `since` [ns] the first time that it is asked; negative before.
COLLMARK_DEVICE bool is_over(const Patience& w, std::int64_t* since) {
  const std::int64_t now = nanoseconds();
  if (*since < 0) *since = now;
  return now - *since >= w.longest || load_relaxed(w.given_up) != 0;
}

/// What a look has found.
struct Found {
  bool here;
  std::uint32_t flag;
};

/// Until `look()` has found it here. False if it never did, or if somebody else has given up.
template <class Look>
COLLMARK_DEVICE bool wait_until(Look look, std::uint32_t expected, const Patience& w) {
  std::int64_t since = -1;
  Found found = look();
  for (std::uint32_t looks = 1; !found.here; ++looks) {
    FlagWait wait = w.wait;
    wait.expected = expected;
    wait.found = found.flag;
    if (looks % kLooksPerReading == 0 && is_over(w, &since)) return give_up(w, wait), false;
    stay(wait);
    found = look();
  }
  progress();
  return true;
}

/// Until the flag has reached `value`.
COLLMARK_DEVICE bool wait_for(std::uint32_t* flag, std::uint32_t value, const Patience& w) {
  const auto look = [=] {
    const std::uint32_t now = load_acquire(flag);
    return Found{reached(now, value), now};
  };
  return wait_until(look, value, w);
}

}  // namespace collmark
