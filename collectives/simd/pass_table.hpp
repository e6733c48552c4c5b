/// What one instruction set provides: a pass for every dtype and operator.
#pragma once

#include "collectives/reduce.hpp"

namespace collmark {

inline constexpr int kDtypeCount = 7;
inline constexpr int kReduceOpCount = 5;

struct PassTable {
  ReducePass reduce[kDtypeCount][kReduceOpCount];  // [dtype][op]
  AveragePass average[kDtypeCount];                // [dtype]
};

/// The passes of one instruction set; null if this CPU or this build lacks it.
[[nodiscard]] const PassTable* pass_table(InstructionSet set);

}  // namespace collmark
