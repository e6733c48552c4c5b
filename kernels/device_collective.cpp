#include "kernels/device_collective.hpp"

#include "collectives/error.hpp"
#include "kernels/gpu_clock.hpp"

namespace collmark {

void settle(DeviceCollective& collective, GpuClock& clock) {
  collective.queue_report();
  clock.finish();
  if (!collective.gave_up()) return;
  collective.queue_complaint();
  clock.finish();
  throw Error(ErrorKind::timed_out, collective.complaint());
}

}  // namespace collmark
