/// Keeps the calling thread on one core.
#pragma once

namespace collmark {

/// A wish: where the system refuses, only timings change.
void pin_this_thread(int core);

}  // namespace collmark
