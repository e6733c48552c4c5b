#include "kernels/stub_nccl/with_stub_nccl.hpp"

#include <cstdlib>

namespace collmark {

WithStubNccl::WithStubNccl(const std::string& faults, int devices, const std::string& driver_faults)
    : driver_(driver_faults, devices) {
  setenv("COLLMARK_NCCL", COLLMARK_STUB_NCCL, 1);  // the path, from the build
  setenv("COLLMARK_STUB_NCCL_FAULT", faults.c_str(), 1);
}

WithStubNccl::~WithStubNccl() {
  unsetenv("COLLMARK_NCCL");
  unsetenv("COLLMARK_STUB_NCCL_FAULT");
}

}  // namespace collmark
