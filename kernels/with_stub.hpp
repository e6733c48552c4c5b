/// For tests: the stub driver with a fault.
#pragma once

#include <chrono>
#include <string>

namespace collmark {

/// While this lives, the stub is the driver, with these faults (stub_driver/faults.hpp).
class WithStub {
 public:
  explicit WithStub(const std::string& faults = "", int devices = 1);
  ~WithStub();
  WithStub(const WithStub&) = delete;
  WithStub& operator=(const WithStub&) = delete;
};

/// While this lives, devices of a stub that is opened have this many multiprocessors, and blocks on each
/// (COLLMARK_STUB_SHAPE): "132x1".
class WithShape {
 public:
  explicit WithShape(const std::string& shape);
  ~WithShape();
  WithShape(const WithShape&) = delete;
  WithShape& operator=(const WithShape&) = delete;
};

/// While this lives, devices of a stub that is opened play that they work (COLLMARK_STUB_STEP_NS).
class WithPlayedClock {
 public:
  explicit WithPlayedClock(std::chrono::nanoseconds step);
  ~WithPlayedClock();
  WithPlayedClock(const WithPlayedClock&) = delete;
  WithPlayedClock& operator=(const WithPlayedClock&) = delete;
};

}  // namespace collmark
