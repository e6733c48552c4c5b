#include "kernels/nccl/nccl_group.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "collectives/error.hpp"

namespace collmark {
namespace {

using nccl::Result;

constexpr std::chrono::microseconds kNap{50};  // between two questions

std::string making(int ranks) {
  return "making a communicator of " + std::to_string(ranks) + " ranks";
}

}  // namespace

nccl::UniqueId NcclGroup::new_id(const Nccl& nccl) {
  nccl::UniqueId id{};
  nccl.check(nccl->get_unique_id(&id), nullptr, "asking for an id");
  return id;
}

NcclGroup::NcclGroup(const Nccl& nccl, std::vector<Gpu*> gpus, const Place& place,
                     HostPatience patience)
    : nccl_(nccl), patience_(std::move(patience)), ranks_(place.ranks), first_(place.first) {
  for (Gpu* gpu : gpus) members_.push_back({.gpu = gpu});
  nccl::Config config{.blocking = 0};
  try {
    together(making(ranks_), [&](int i) {
      return nccl_->init_rank(&members_[static_cast<std::size_t>(i)].comm, ranks_, place.id,
                              first_ + i, &config);
    });
  } catch (...) {
    abort();
    throw;
  }
}

NcclGroup::NcclGroup(const Nccl& nccl, std::vector<Gpu*> gpus, HostPatience patience)
    : NcclGroup(nccl, gpus, Place{.ranks = static_cast<int>(gpus.size()), .id = new_id(nccl)},
                std::move(patience)) {}

/// The new communicators inherit what the parent's were configured with. Until the parent has done its part, they may be
/// null.
NcclGroup::NcclGroup(NcclGroup& parent, int ranks)
    : nccl_(parent.nccl_), patience_(parent.patience_), ranks_(ranks), first_(parent.first_) {
  auto owned = std::make_unique<std::vector<nccl::Comm>>(parent.members_.size());
  std::vector<nccl::Comm>& made = *owned;
  const std::string doing = making(ranks);
  try {
    nccl_.check(nccl_->group_start(), nullptr, doing);
    for (int i = 0; i < parent.here().count; ++i) {
      const int rank = first_ + i;
      parent.gpu(i).use();
      parent.accept(nccl_->split(parent.comm(i), rank < ranks ? 0 : nccl::kNoColor, rank,
                                 &made[static_cast<std::size_t>(i)], nullptr),
                    i, doing);
    }
    const Result result = nccl_->group_end();
    if (result != Result::in_progress) nccl_.check(result, parent.comm(0), doing);
    parent.wait(doing);
    for (int i = 0; i < parent.here().count; ++i)
      if (first_ + i < ranks)
        members_.push_back({&parent.gpu(i), made[static_cast<std::size_t>(i)]});
    wait(doing);
  } catch (...) {
    if (!parent.abort()) {  // first: until it has ended NCCL may write to `made`
      (void)owned.release();
      aborted_ = true;
      throw;
    }
    members_.clear();
    for (std::size_t i = 0; i < made.size(); ++i)
      if (made[i] != nullptr) members_.push_back({parent.members_[i].gpu, made[i]});
    abort();
    throw;
  }
}

std::unique_ptr<NcclGroup> NcclGroup::split(int ranks) {
  return std::unique_ptr<NcclGroup>(new NcclGroup(*this, ranks));
}

/// After an error NCCL's own way to finish may wait for peers that are gone.
bool NcclGroup::end() noexcept {
  if (aborted_) return has_ended();
  try {
    check_errors("ending a communicator");
    for (const Member& member : members_) {
      member.gpu->use();
      const Result result = nccl_->finalize(member.comm);
      if (result != Result::in_progress) nccl_.check(result, member.comm, "ending a communicator");
    }
    wait("ending a communicator");
  } catch (const Error&) {
    return abort();
  }
  begin(Last::destroy);
  return has_ended();
}

void NcclGroup::begin_abort() noexcept {
  if (!aborted_) begin(Last::abort);
}

bool NcclGroup::abort() noexcept {
  begin_abort();
  return has_ended();
}

/// NCCL waits in both, whatever was configured: for streams, graphs and threads of its own (src/init.cc, commReclaim; src/group.cc,
/// destroyFlag).
void NcclGroup::begin(Last call) noexcept {
  aborted_ = true;
  struct Ending {
    cu::Context context;
    nccl::Comm comm;
  };
  std::vector<Ending> all;
  for (Member& member : members_)
    if (member.comm != nullptr)
      all.push_back({member.gpu->context(), std::exchange(member.comm, nullptr)});
  if (all.empty()) return;
  std::promise<void> promise;
  ended_ = promise.get_future();
  given_up_at_ = std::chrono::steady_clock::now() + patience_.timeout;
  thread_ = std::thread([all, use = members_.front().gpu->driver()->context_set_current,
                         last = call == Last::abort ? nccl_->abort : nccl_->destroy,
                         promise = std::move(promise)]() mutable {
    for (const Ending& one : all) {
      (void)use(one.context);
      (void)last(one.comm);
    }
    promise.set_value();
  });
}

bool NcclGroup::has_ended() noexcept {
  if (!thread_.joinable()) return !left_;
  left_ = ended_.wait_until(given_up_at_) != std::future_status::ready;
  left_ ? thread_.detach() : thread_.join();
  return !left_;
}

void NcclGroup::start_group(std::string_view doing) const {
  nccl_.check(nccl_->group_start(), nullptr, doing);
}

void NcclGroup::end_group(std::string_view doing) {
  const Result result = nccl_->group_end();
  if (result != Result::in_progress)
    nccl_.check(result, members_.empty() ? nullptr : members_.front().comm, doing);
  wait(doing);
}

/// An error inside a group is told again at its end; what was started must be ended before anything is thrown.
void NcclGroup::accept(Result result, int i, std::string_view doing) const {
  if (result == Result::success || result == Result::in_progress) return;
  (void)nccl_->group_end();
  nccl_.check(result, comm(i), doing);
}

bool NcclGroup::in_progress(std::string_view doing) const {
  return std::any_of(members_.begin(), members_.end(), [&](const Member& member) {
    if (member.comm == nullptr) return true;
    Result state = Result::success;
    nccl_.check(nccl_->get_async_error(member.comm, &state), member.comm, doing);
    if (state != Result::in_progress) nccl_.check(state, member.comm, doing);
    return state == Result::in_progress;
  });
}

void NcclGroup::wait(std::string_view doing) const {
  const auto begin = std::chrono::steady_clock::now();
  while (in_progress(doing)) {
    if (patience_.interrupted != nullptr && patience_.interrupted->load(std::memory_order_relaxed))
      throw Error(ErrorKind::interrupted, "interrupted");
    if (std::chrono::steady_clock::now() - begin > patience_.timeout)
      throw Error(ErrorKind::timed_out, "NCCL has not come to an end of " + std::string(doing) +
                                            " in " + std::to_string(patience_.timeout.count()) +
                                            " ms");
    std::this_thread::sleep_for(kNap);
  }
}

void NcclGroup::check_errors(std::string_view doing) const {
  if (!aborted_) (void)in_progress(doing);
}

}  // namespace collmark
