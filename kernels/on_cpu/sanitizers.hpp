/// What the sanitizers want to be told of fibers; nothing where there is none.
#pragma once

#include <cstddef>

#if defined(COLLMARK_TSAN)  // by CMake: the scheduler itself is compiled without it
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace collmark::grid {

enum class Order { no, yes };

#if defined(COLLMARK_TSAN)  // by CMake: the scheduler itself is compiled without it
inline void* tsan_this_fiber() { return __tsan_get_current_fiber(); }
inline void* tsan_new_fiber() { return __tsan_create_fiber(0); }
inline void tsan_end_fiber(void* fiber) { __tsan_destroy_fiber(fiber); }
inline void tsan_switch(void* fiber, Order order) {
  __tsan_switch_to_fiber(fiber, order == Order::yes ? 0 : __tsan_switch_to_fiber_no_sync);
}
#else
inline void* tsan_this_fiber() { return nullptr; }
inline void* tsan_new_fiber() { return nullptr; }
inline void tsan_end_fiber(void*) {}
inline void tsan_switch(void*, Order) {}
#endif

// `fake` keeps the stack that is left, null for one that never comes back.
#if defined(__SANITIZE_ADDRESS__)
inline void asan_leaving(void** fake, const void* stack, std::size_t size) {
  __sanitizer_start_switch_fiber(fake, stack, size);
}
inline void asan_arrived(void* fake, const void** from, std::size_t* size) {
  __sanitizer_finish_switch_fiber(fake, from, size);
}
#else
inline void asan_leaving(void**, const void*, std::size_t) {}
inline void asan_arrived(void*, const void**, std::size_t*) {}
#endif

}  // namespace collmark::grid
