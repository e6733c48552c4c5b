/// What becomes of the GPUs of this process when measuring our kernels on them ends with an error.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "bench/device_work.hpp"
#include "bench/leave_behind.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"
#include "kernels/gpu.hpp"

namespace collmark {

/// Runs `measure`, which uses nothing that `running` does not own but `gpus`; running->work() is null as long as nothing can be
/// queued. If what was queued has not come to an end after an error, both are left behind. A case that is refused is given
/// `longest` for it: ranks that were launched wait for those that were not, each for its own time.
///   Throws   what `measure` throws; Error{timed_out} if it was Unsupported, and there was no end
template <class Running, class Measure>
void watch_kernels(std::unique_ptr<Running> running, std::unique_ptr<Gpus>& gpus,
                   std::chrono::milliseconds longest, Measure measure) {
  const auto ended = [&](std::chrono::milliseconds wait) {
    DeviceWork* const work = running->work();
    if (work == nullptr) return true;
    work->let_go();
    if (comes_to_an_end(*work, wait)) return true;
    leave_behind(std::move(running));
    leave_behind(std::move(gpus));
    return false;
  };
  try {
    measure();
  } catch (const Unsupported& e) {
    if (ended(longest)) throw;
    throw Error(ErrorKind::timed_out,
                std::string(e.what()) + "; and what was queued before has not come to an end");
  } catch (...) {
    (void)ended(std::chrono::milliseconds(0));
    throw;
  }
}

}  // namespace collmark
