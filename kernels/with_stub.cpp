#include "kernels/with_stub.hpp"

#include <cstdlib>

namespace collmark {

WithStub::WithStub(const std::string& faults, int devices) {
  setenv("COLLMARK_CUDA_DRIVER", COLLMARK_STUB_DRIVER, 1);  // the path, from the build
  setenv("COLLMARK_STUB_FAULT", faults.c_str(), 1);
  setenv("COLLMARK_STUB_DEVICES", std::to_string(devices).c_str(), 1);
}

WithStub::~WithStub() {
  for (const char* name : {"COLLMARK_CUDA_DRIVER", "COLLMARK_STUB_FAULT", "COLLMARK_STUB_DEVICES"})
    unsetenv(name);
}

WithShape::WithShape(const std::string& shape) { setenv("COLLMARK_STUB_SHAPE", shape.c_str(), 1); }

WithShape::~WithShape() { unsetenv("COLLMARK_STUB_SHAPE"); }

WithPlayedClock::WithPlayedClock(std::chrono::nanoseconds step) {
  setenv("COLLMARK_STUB_STEP_NS", std::to_string(step.count()).c_str(), 1);
}

WithPlayedClock::~WithPlayedClock() { unsetenv("COLLMARK_STUB_STEP_NS"); }

}  // namespace collmark
