#include "bench/mpi/rank_nccl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "bench/leave_behind.hpp"
#include "bench/mpi/copied_text.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

/// In a form that ranks can exchange.
struct Identity {
  std::array<char, 64> uuid{}, library{};
};

/// Why rank `b` cannot be in one communicator with those before it.
std::string obstacle_of(std::size_t b, const std::vector<Identity>& all, const Nccl& nccl) {
  if (all[b].library != all[0].library)
    return fmt::format("rank {} has {}, rank 0 has {}: NCCL connects only its like", b,
                       all[b].library.data(), all[0].library.data());
  for (std::size_t a = 0; a < b; ++a)
    if (all[a].uuid == all[b].uuid)
      return fmt::format(
          "ranks {} and {} are processes on one GPU, {}: {}; start no more ranks than GPUs", a, b,
          all[a].uuid.data(), one_rank_per_gpu(nccl));
  return "";
}

}  // namespace

const Nccl& RankNccl::library() {
  if (!nccl_) nccl_ = std::make_unique<Nccl>();
  return *nccl_;
}

void RankNccl::end() {
  if (groups_ && !groups_->end()) {
    leave_behind(std::move(groups_));
    gpu_.leave_behind();
  }
  groups_.reset();
  made_ = false;
}

void RankNccl::begin_launch(int launch) {
  if (launch != launch_) end();
  launch_ = launch;
}

void RankNccl::find_fitting(GpuPeers& all) {
  Identity mine;
  all.together([&] {
    copy_text(gpu_.gpus()[0].facts().uuid, mine.uuid);
    copy_text(library().name(), mine.library);
  });
  const std::vector<Identity> everybody = all.all_of(mine);
  for (fitting_ = 1; fitting_ < all.ranks(); ++fitting_) {
    obstacle_ = obstacle_of(static_cast<std::size_t>(fitting_), everybody, library());
    if (!obstacle_.empty()) return;
  }
}

void RankNccl::make_everybody(GpuPeers& all) {
  nccl::UniqueId id{};
  if (all.rank() == 0) id = NcclGroup::new_id(library());
  id = all.all_of(id).front();
  all.together([&] {
    if (!holds(all)) return;
    const NcclGroup::Place place{.ranks = fitting_, .first = all.rank(), .id = id};
    groups_ = std::make_unique<NcclGroups>(std::make_unique<NcclGroup>(
        library(), std::vector<Gpu*>{&gpu_.gpus()[0]}, place, patience()));
  });
  made_ = true;
}

NcclGroup* RankNccl::group(GpuPeers& all, const NcclGroups::Wanted& wanted) {
  if (fitting_ == 0) find_fitting(all);
  if (wanted.ranks > fitting_) throw Unsupported(obstacle_);
  NcclGroup* found = nullptr;
  try {
    if (!made_) make_everybody(all);
    all.together([&] {
      if (holds(all)) found = &groups_->of(wanted);
    });
  } catch (const Unsupported&) {  // at one or another, whose part of the communicators is gone
    if (groups_) groups_->abort();
    end();
    throw;
  }
  return all.rank() < wanted.ranks ? found : nullptr;
}

void RankNccl::drop(const NcclGroups::Wanted& wanted) {
  if (wanted.ranks == fitting_ && !wanted.choice.is_forced()) end();
  if (groups_) groups_->drop(wanted);
}

}  // namespace collmark
