/// A build without nvcc.
#include "kernels/image.hpp"

namespace collmark {

const void* kernel_image() { return "no kernels: built without nvcc"; }

int kernel_image_version() { return 0; }

std::string kernel_image_targets() { return ""; }

}  // namespace collmark
