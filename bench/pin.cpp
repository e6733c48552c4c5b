#include "bench/pin.hpp"

#include <pthread.h>
#include <sched.h>

#include <cstddef>

namespace collmark {

void pin_this_thread(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

}  // namespace collmark
