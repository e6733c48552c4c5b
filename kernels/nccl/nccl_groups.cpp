#include "kernels/nccl/nccl_groups.hpp"

#include <algorithm>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr std::size_t kMostKept = 4;  // beside everybody's

}  // namespace

NcclGroups::Key NcclGroups::key(const Wanted& wanted) {
  const auto& [ranks, collective, choice] = wanted;
  return {ranks, choice.is_forced() ? collective : Collective::all_reduce, choice.algorithm,
          choice.protocol};
}

NcclGroup& NcclGroups::of(const Wanted& wanted) {
  if (is_everybody(wanted)) return *everybody_;
  const auto found = std::find_if(split_.begin(), split_.end(),
                                  [&](const Split& one) { return one.first == key(wanted); });
  if (found != split_.end()) {
    split_.splice(split_.begin(), split_, found);
    return *split_.front().second;
  }
  const ForcedChoice forced(everybody_->nccl(), wanted.collective, wanted.choice);
  try {
    make_room();
    split_.emplace_front(key(wanted), everybody_->split(wanted.ranks));
  } catch (const Error& e) {
    abort();
    if (e.kind() == ErrorKind::lost && wanted.choice.is_forced()) throw Unsupported(e.what());
    throw;
  }
  return *split_.front().second;
}

void NcclGroups::make_room() {
  while (split_.size() >= kMostKept) {
    const auto last = std::move(split_.back().second);
    split_.pop_back();
    if (!last->end())
      throw Error(ErrorKind::timed_out, "NCCL has not come to an end of ending a communicator");
  }
}

bool NcclGroups::end() noexcept {
  const bool ended = std::all_of(split_.begin(), split_.end(),
                                 [](const Split& one) { return one.second->end(); }) &&
                     everybody_->end();
  if (!ended) abort();
  split_.clear();
  return ended;
}

void NcclGroups::abort() noexcept {
  for (auto& [_, group] : split_) group->begin_abort();
  everybody_->begin_abort();
  for (auto& [_, group] : split_) group->abort();
  split_.clear();
  everybody_->abort();
}

void NcclGroups::drop(const Wanted& wanted) {
  if (!is_everybody(wanted))
    split_.remove_if([&](const Split& one) { return one.first == key(wanted); });
}

}  // namespace collmark
