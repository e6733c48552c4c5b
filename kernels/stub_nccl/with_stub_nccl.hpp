/// For tests: the stub of NCCL, over the stub driver, with a fault of either.
#pragma once

#include <string>

#include "kernels/with_stub.hpp"

namespace collmark {

/// While this lives, the stubs are the driver and NCCL, with these faults (stub_nccl/communicator.hpp).
class WithStubNccl {
 public:
  explicit WithStubNccl(const std::string& faults = "", int devices = 4,
                        const std::string& driver_faults = "");
  ~WithStubNccl();
  WithStubNccl(const WithStubNccl&) = delete;
  WithStubNccl& operator=(const WithStubNccl&) = delete;

 private:
  WithStub driver_;
};

}  // namespace collmark
