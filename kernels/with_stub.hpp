/// For tests: the stub driver with a fault.
#pragma once

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

}  // namespace collmark
