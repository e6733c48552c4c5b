#include "bench/proof_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "kernels/job.hpp"
#include "kernels/kernel_job.hpp"

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

/// [kernel of the wish]: no other before it is the same code, run by another algorithm.
std::vector<bool> first_of_their_code(const ProofWish& wish) {
  std::set<std::pair<Kernel, Collective>> known;
  std::vector<bool> first;
  for (const KernelPick& pick : wish.kernels) {
    const KernelJob job(
        {.name = pick.name, .collective = pick.collective, .ranks = 4, .payload = {.count = {4}}},
        {});
    first.push_back(known.insert({job.kernel(), pick.collective}).second);
  }
  return first;
}

TEST(ProofPlan, OfAHandWrittenKernelHasEveryDtypeOperatorPlacementAndRank) {
  const ProofWish wish = everything();
  const std::vector<bool> first = first_of_their_code(wish);
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
    EXPECT_EQ(own, kDtypes.size() * 8 * (first[k] ? operators * kPlacements.size() : 1))
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
  const std::vector<bool> first = first_of_their_code(wish);
  for (std::size_t k = 0; k < wish.kernels.size(); ++k)
    for (const Dtype dtype : kDtypes)
      if (first[k] && wish.kernels[k].hand_written) {
        EXPECT_TRUE(found.contains({k, dtype}))
            << to_string(wish.kernels[k].name) << " " << name(dtype);
      }
}

TEST(ProofPlan, ANameWithoutAProtocolStandsForBothKernels) {
  const auto names = [](const std::string& asked) {
    std::vector<std::string> all;
    for (const KernelPick& pick : kernel_picks({asked}, Collective::all_reduce))
      all.push_back(to_string(pick.name));
    return all;
  };
  EXPECT_EQ(names("ring"), (std::vector<std::string>{"ring/simple", "ring/LL"}));
  EXPECT_EQ(names("ring/LL"), std::vector<std::string>{"ring/LL"});
  EXPECT_EQ(names("sharded_parameter_server"),
            std::vector<std::string>{"sharded_parameter_server"});
  EXPECT_EQ(names("swing"), std::vector<std::string>{"swing"});
}

TEST(ProofPlan, EverySmallCountMeetsEveryPlacement) {
  std::set<std::pair<std::int64_t, Placement>> found;
  for (const ProofCase& c : proof_plan(everything()))
    if (c.task.payload.count.value <= 1 && c.task.collective != Collective::all_to_all)
      found.insert({c.task.payload.count.value, c.task.placement});
  EXPECT_EQ(found.size(), 2 * kPlacements.size());
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
