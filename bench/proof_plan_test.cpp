#include "bench/proof_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "kernels/job.hpp"

namespace collmark {
namespace {

ProofWish everything() {
  return {.kernels = kernel_picks({}, std::nullopt),
          .ranks = {1, 2, 3, 4, 5, 6, 7, 8},
          .dtypes = {kDtypes.begin(), kDtypes.end()},
          .operators = {kReduceOps.begin(), kReduceOps.end()},
          .placements = {kPlacements.begin(), kPlacements.end()},
          .large = Bytes{1 << 20}};
}

bool is_of_pieces(const ProofCase& c) { return c.tuning.slots.has_value(); }

TEST(ProofPlan, OfAHandWrittenKernelHasEveryDtypeOperatorPlacementAndRank) {
  const ProofWish wish = everything();
  std::set<std::tuple<std::size_t, Dtype, ReduceOp, Placement, int>> found;
  for (const ProofCase& c : proof_plan(wish))
    if (is_of_pieces(c))
      found.insert(
          {c.kernel, c.task.payload.dtype, c.task.payload.op, c.task.placement, c.task.ranks});
  for (std::size_t k = 0; k < wish.kernels.size(); ++k) {
    if (!wish.kernels[k].hand_written) continue;
    const std::size_t operators = reduces(wish.kernels[k].collective) ? kReduceOps.size() : 1;
    const auto own = static_cast<std::size_t>(std::count_if(
        found.begin(), found.end(), [&](const auto& one) { return std::get<0>(one) == k; }));
    EXPECT_EQ(own, kDtypes.size() * operators * kPlacements.size() * 8)
        << to_string(wish.kernels[k].name);
  }
}

TEST(ProofPlan, EachHandWrittenKernelWithEachDtypeComesFirstOnTheMostRanks) {
  const ProofWish wish = everything();
  const std::vector<ProofCase> plan = proof_plan(wish);
  std::set<std::pair<std::size_t, Dtype>> found;
  for (std::size_t i = 0; i < wish.kernels.size() * kDtypes.size(); ++i) {
    if (wish.kernels[plan[i].kernel].hand_written)
      found.insert({plan[i].kernel, plan[i].task.payload.dtype});
    EXPECT_EQ(plan[i].task.ranks, 8);
  }
  const auto by_hand = std::count_if(wish.kernels.begin(), wish.kernels.end(),
                                     [](const KernelPick& pick) { return pick.hand_written; });
  EXPECT_EQ(found.size(), static_cast<std::size_t>(by_hand) * kDtypes.size());
}

/// Of a ring, whose links carry the least: a share of a chunk for each channel.
TEST(ProofPlan, PiecesOfEveryLinkWrapThreeTimesAroundItsSlots) {
  ProofWish wish = everything();
  wish.kernels = kernel_picks({"ring"}, Collective::all_reduce);
  for (const ProofCase& c : proof_plan(wish)) {
    if (!is_of_pieces(c)) continue;
    const KernelJob job(
        c.task, {.channels = *c.tuning.channels, .slots = *c.tuning.slots, .slot = *c.tuning.slot});
    const auto element = static_cast<std::int64_t>(size_of(c.task.payload.dtype));
    for (int chunk = 0; chunk < c.task.ranks; ++chunk)
      for (int channel = 0; channel < job.channels(); ++channel) {
        const Part part = share(chunk_of(c.task.payload.count.value, c.task.ranks, chunk), channel,
                                job.channels(), static_cast<int>(16 / element));
        EXPECT_GE(part.count * element, 3 * *c.tuning.slots * c.tuning.slot->value) << words(c);
      }
  }
}

}  // namespace
}  // namespace collmark
