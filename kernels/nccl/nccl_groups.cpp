#include "kernels/nccl/nccl_groups.hpp"

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {

NcclGroups::Key NcclGroups::key(const Wanted& wanted) {
  const auto& [ranks, collective, choice] = wanted;
  return {ranks, choice.is_forced() ? collective : Collective::all_reduce, choice.algorithm,
          choice.protocol};
}

NcclGroup& NcclGroups::of(const Wanted& wanted) {
  if (is_everybody(wanted)) return *everybody_;
  std::unique_ptr<NcclGroup>& group = split_[key(wanted)];
  if (group) return *group;
  const ForcedChoice forced(everybody_->nccl(), wanted.collective, wanted.choice);
  try {
    group = everybody_->split(wanted.ranks);
  } catch (const Error& e) {
    abort();
    if (e.kind() == ErrorKind::lost && wanted.choice.is_forced()) throw Unsupported(e.what());
    throw;
  }
  return *group;
}

void NcclGroups::abort() noexcept {
  for (auto& [_, group] : split_)
    if (group) group->abort();
  split_.clear();
  everybody_->abort();
}

void NcclGroups::drop(const Wanted& wanted) {
  if (!is_everybody(wanted)) split_.erase(key(wanted));
}

}  // namespace collmark
