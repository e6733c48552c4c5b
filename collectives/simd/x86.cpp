/// Which passes this x86-64 CPU can run.
#include <emmintrin.h>

#include "collectives/simd/pass_table.hpp"

namespace collmark {

namespace baseline {
extern const PassTable kPasses;
}
namespace avx2 {
extern const PassTable kPasses;
}
namespace avx512 {
extern const PassTable kPasses;
}

const PassTable* pass_table(InstructionSet set) {
  switch (set) {
    case InstructionSet::baseline:
      return &baseline::kPasses;
    case InstructionSet::avx2:
      return __builtin_cpu_supports("x86-64-v3") ? &avx2::kPasses : nullptr;
    case InstructionSet::avx512:
      return __builtin_cpu_supports("x86-64-v4") ? &avx512::kPasses : nullptr;
  }
  return nullptr;
}

void streaming_fence() { _mm_sfence(); }

}  // namespace collmark
