#include "kernels/stub_nccl/driver.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace collmark::stub {
namespace {

template <class Function>
void resolve(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
}

LoadedDriver find() {
  LoadedDriver driver;
  const char* const path = std::getenv("COLLMARK_CUDA_DRIVER");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return driver;
  resolve(library, "cuCtxGetCurrent", driver.get_current);
  resolve(library, "cuCtxSetCurrent", driver.set_current);
  resolve(library, "collmark_stub_launch_host", driver.launch_host);
  resolve(library, "collmark_stub_never_ends", driver.never_ends);
  resolve(library, "cuMemAlloc_v2", driver.allocate);
  resolve(library, "cuMemFree_v2", driver.release);
  return driver;
}

}  // namespace

const LoadedDriver& loaded_driver() {
  static const LoadedDriver driver = find();
  return driver;
}

}  // namespace collmark::stub
