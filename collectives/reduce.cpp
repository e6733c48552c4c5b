#include "collectives/reduce.hpp"

#include "collectives/simd/pass_table.hpp"

namespace collmark {
namespace {

const PassTable& best_table() {
  static const PassTable& best = *pass_table(best_instruction_set());
  return best;
}

}  // namespace

InstructionSet best_instruction_set() {
  for (const InstructionSet set : {InstructionSet::avx512, InstructionSet::avx2})
    if (pass_table(set) != nullptr) return set;
  return InstructionSet::baseline;
}

std::string_view name(InstructionSet set) {
  constexpr std::string_view kNames[] = {"baseline", "avx2", "avx512"};
  return kNames[static_cast<std::size_t>(set)];
}

ReducePass reduce_pass(Dtype dtype, ReduceOp op) {
  return best_table().reduce[static_cast<std::size_t>(dtype)][static_cast<std::size_t>(op)];
}

AveragePass average_pass(Dtype dtype) {
  return best_table().average[static_cast<std::size_t>(dtype)];
}

ReducePass reduce_pass(Dtype dtype, ReduceOp op, InstructionSet set) {
  const PassTable* const table = pass_table(set);
  if (table == nullptr) return nullptr;
  return table->reduce[static_cast<std::size_t>(dtype)][static_cast<std::size_t>(op)];
}

AveragePass average_pass(Dtype dtype, InstructionSet set) {
  const PassTable* const table = pass_table(set);
  return table == nullptr ? nullptr : table->average[static_cast<std::size_t>(dtype)];
}

}  // namespace collmark
