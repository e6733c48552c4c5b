/// What other stubs put into the streams of the stub driver, in the place of kernels.
#pragma once

#include "kernels/driver_abi.hpp"

namespace collmark::cu {

struct HostWork {
  void (*run)(void* data);
  void (*release)(void* data);  // once no stream and no graph holds it any more
  void* data;
};

}  // namespace collmark::cu
