/// What nvcc made of instances.cu: the file is taken in by the assembler.
#include "kernels/image.hpp"

// COLLMARK_FATBIN, COLLMARK_FATBIN_VERSION and COLLMARK_FATBIN_TARGETS are the build's.
asm(".pushsection .rodata\n"
    ".balign 64\n"
    ".type collmark_fatbin, @object\n"
    "collmark_fatbin:\n"
    ".incbin \"" COLLMARK_FATBIN
    "\"\n"
    ".size collmark_fatbin, . - collmark_fatbin\n"
    ".popsection\n");

extern "C" __attribute__((visibility("hidden"))) const unsigned char collmark_fatbin[];

namespace collmark {

const void* kernel_image() { return collmark_fatbin; }

int kernel_image_version() { return COLLMARK_FATBIN_VERSION; }

std::string kernel_image_targets() { return COLLMARK_FATBIN_TARGETS; }

}  // namespace collmark
