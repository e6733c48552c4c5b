#include "bench/nccl_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "bench/cuda_names.hpp"
#include "bench/leave_behind.hpp"
#include "bench/nccl_case.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

/// Opens a T, or says why not.
template <class T>
std::pair<std::unique_ptr<T>, std::string> opened() {
  try {
    return {std::make_unique<T>(), ""};
  } catch (const Error& e) {
    return {nullptr, e.what()};
  }
}

}  // namespace

NcclProcess::NcclProcess(std::chrono::milliseconds timeout) : timeout_(timeout) {
  std::string no_gpus, no_nccl;
  std::tie(gpus_, no_gpus) = opened<Gpus>();
  std::tie(nccl_, no_nccl) = opened<Nccl>();
  if (gpus_ && nccl_) return;
  const std::string library = nccl_ ? nccl_->name() + " is here" : no_nccl;
  availability_ = {.here = false,
                   .reason = gpus_ ? library : fmt::format("{}; {}", no_gpus, library)};
}

std::vector<std::string> NcclProcess::devices() const {
  std::vector<std::string> all;
  if (nccl_) all.push_back(nccl_line(nccl_->name()));
  for (int d = 0; gpus_ && d < gpus_->size(); ++d)
    all.push_back(describe((*gpus_)[d]) + fmt::format(", rank {}", d));
  for (const std::string& line : gpus_ ? gpus_->left_out() : std::vector<std::string>{})
    all.push_back(fmt::format("not used: {}", line));
  return all;
}

Bytes NcclProcess::free_memory(int gpus) const {
  return gpus_ ? gpus_->free_memory(std::min(gpus, gpus_->size())) : Bytes{};
}

NcclProcess::~NcclProcess() { (void)end_groups(); }

/// False: they, and what they may use, are left behind.
bool NcclProcess::end_groups() {
  if (!groups_ || groups_->end()) return groups_.reset(), true;
  leave_all_behind();
  return false;
}

void NcclProcess::leave_all_behind() {
  leave_behind(std::move(groups_));
  leave_behind(std::move(gpus_));
  availability_ = {.here = false, .reason = "a GPU has not come to an end"};
}

void NcclProcess::begin_launch(int ranks) {
  if (!end_groups())
    throw Error(ErrorKind::timed_out, "NCCL has not come to an end of ending communicators");
  most_ranks_ = ranks;
}

HostPatience NcclProcess::patience() const {
  return {.timeout = timeout_, .interrupted = &interrupted_};
}

/// The largest first, the others split from it: much of what NCCL finds out is then known.
NcclGroup& NcclProcess::group(const NcclGroups::Wanted& wanted) {
  if (wanted.ranks > gpus_->size())
    throw Unsupported(fmt::format("{} ranks, {} GPU{}: {}", wanted.ranks, gpus_->size(),
                                  gpus_->size() == 1 ? "" : "s", one_rank_per_gpu(*nccl_)));
  if (groups_ && (groups_->aborted() || groups_->size() < wanted.ranks) && !end_groups())
    throw Error(ErrorKind::timed_out, "NCCL has not come to an end of ending communicators");
  try {
    if (!groups_) {
      std::vector<Gpu*> gpus;
      for (int d = 0; d < std::clamp(most_ranks_, wanted.ranks, gpus_->size()); ++d)
        gpus.push_back(&(*gpus_)[d]);
      groups_ = std::make_unique<NcclGroups>(std::make_unique<NcclGroup>(*nccl_, gpus, patience()));
    }
    return groups_->of(wanted);
  } catch (const Error& e) {  // its abort may be under way still, and use them
    if (e.kind() == ErrorKind::timed_out) leave_all_behind();
    throw;
  }
}

void NcclProcess::watch(std::unique_ptr<NcclRunning> running, const NcclGroups::Wanted& wanted,
                        std::string_view doing, const std::function<void()>& measure) {
  try {
    measure();
  } catch (const Refused& e) {
    give_up(std::move(running), wanted);
    throw Unsupported(e.what());
  } catch (const Unsupported&) {
    throw;
  } catch (const Error& e) {
    give_up(std::move(running), wanted);
    if (e.kind() != ErrorKind::timed_out) throw;
    throw Error(ErrorKind::timed_out, fmt::format("NCCL's {} on {} ranks was aborted: {}", doing,
                                                  wanted.ranks, e.what()));
  }
}

/// After an error a communicator is of no use, and its kernels may wait for each other for ever.
void NcclProcess::give_up(std::unique_ptr<NcclRunning> running, const NcclGroups::Wanted& wanted) {
  if (abandon(running->group, running->work())) {
    running.reset();  // its buffers still ask for the group
    groups_->drop(wanted);
    return;
  }
  leave_behind(std::move(running));
  leave_all_behind();
}

}  // namespace collmark
