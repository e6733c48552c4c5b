#include "kernels/nccl/nccl_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "collectives/error.hpp"
#include "kernels/stub_nccl/with_stub_nccl.hpp"

namespace collmark {
namespace {

using testing::HasSubstr;

std::vector<Gpu*> first(Gpus& gpus, int count) {
  std::vector<Gpu*> some;
  for (int d = 0; d < count; ++d) some.push_back(&gpus[d]);
  return some;
}

/// What making a group of 2 ranks says.
std::pair<ErrorKind, std::string> failure(HostPatience patience) {
  Gpus gpus;
  const Nccl nccl;
  try {
    const NcclGroup group(nccl, first(gpus, 2), patience);
  } catch (const Error& e) {
    return {e.kind(), e.what()};
  }
  return {ErrorKind::broken, "nothing"};
}

TEST(NcclGroup, IsMadeWithoutBlockingAndWaitedFor) {
  const WithStubNccl stub;
  Gpus gpus;
  const Nccl nccl;
  const NcclGroup group(nccl, first(gpus, 3), {});
  EXPECT_EQ(group.size(), 3);
  EXPECT_EQ(group.here().count, 3);
  group.check_errors("nothing");
}

TEST(NcclGroup, ThatIsNeverFinishedTimesOutAndNamesItsRanks) {
  const WithStubNccl stub("hang_init");
  const auto [kind, what] = failure({.timeout = std::chrono::milliseconds(20)});
  EXPECT_EQ(kind, ErrorKind::timed_out);
  EXPECT_EQ(what, "NCCL has not come to an end of making a communicator of 2 ranks in 20 ms");
}

TEST(NcclGroup, WhoseAbortNeverEndsEitherIsLeftBehind) {
  const WithStubNccl stub("hang_init,hang_abort");
  const auto [kind, what] = failure({.timeout = std::chrono::milliseconds(20)});
  EXPECT_EQ(kind, ErrorKind::timed_out);
  EXPECT_EQ(what, "NCCL has not come to an end of making a communicator of 2 ranks in 20 ms");
}

TEST(NcclGroup, WhoseEndNeverComesIsLeftBehind) {
  const WithStubNccl stub("hang_destroy");
  Gpus gpus;
  const Nccl nccl;
  NcclGroup group(nccl, first(gpus, 2), {.timeout = std::chrono::milliseconds(20)});
  EXPECT_FALSE(group.end());
  EXPECT_FALSE(group.end());
  EXPECT_TRUE(group.aborted());
}

TEST(NcclGroups, KeepsFewAndEndsTheOneThatWasLongestNotWanted) {
  const WithStubNccl stub;
  Gpus gpus;
  const Nccl nccl;
  NcclGroups groups(std::make_unique<NcclGroup>(nccl, first(gpus, 2), HostPatience{}));
  const auto of = [&](const char* algorithm) {
    return groups.of({.ranks = 2, .choice = {.algorithm = algorithm}}).comm(0);
  };
  const nccl::Comm ring = of("Ring");
  (void)of("Tree");
  (void)of("NVLS");
  (void)of("NVLSTree");
  EXPECT_EQ(groups.kept(), 4);
  EXPECT_EQ(of("Ring"), ring);  // wanted again, so the tree goes first
  (void)of("CollnetChain");
  EXPECT_EQ(groups.kept(), 4);
  EXPECT_EQ(of("Ring"), ring);
  EXPECT_TRUE(groups.end());
}

TEST(NcclGroups, ThatCannotEndOneSaysSo) {
  const WithStubNccl stub("hang_destroy");
  Gpus gpus;
  const Nccl nccl;
  NcclGroups groups(std::make_unique<NcclGroup>(
      nccl, first(gpus, 2), HostPatience{.timeout = std::chrono::milliseconds(50)}));
  for (const char* algorithm : {"Ring", "Tree", "NVLS", "NVLSTree"})
    (void)groups.of({.ranks = 2, .choice = {.algorithm = algorithm}});
  EXPECT_THROW((void)groups.of({.ranks = 1}), Error);
  EXPECT_TRUE(groups.aborted());
}

TEST(NcclGroups, WhoseEndsNeverComeAreGivenUpInTheTimeOfOne) {
  using std::chrono::milliseconds, std::chrono::steady_clock;
  constexpr milliseconds kPatience{500};
  const WithStubNccl stub("hang_destroy,hang_abort");
  Gpus gpus;
  const Nccl nccl;
  NcclGroups groups(
      std::make_unique<NcclGroup>(nccl, first(gpus, 2), HostPatience{.timeout = kPatience}));
  for (const char* algorithm : {"Ring", "Tree", "NVLS", "NVLSTree"})
    (void)groups.of({.ranks = 2, .choice = {.algorithm = algorithm}});
  const auto begin = steady_clock::now();
  EXPECT_FALSE(groups.end());
  EXPECT_LT(steady_clock::now() - begin, 4 * kPatience);
}

TEST(NcclGroup, WaitingForItIsInterrupted) {
  const WithStubNccl stub("hang_init");
  const std::atomic<bool> interrupted{true};
  EXPECT_EQ(failure({.interrupted = &interrupted}).first, ErrorKind::interrupted);
}

TEST(NcclGroup, ThatCannotBeMadeSaysWhyInNcclsWords) {
  const WithStubNccl stub("init_error");
  const auto [kind, what] = failure({});
  EXPECT_EQ(kind, ErrorKind::lost);
  EXPECT_THAT(what, HasSubstr("2 ranks: unhandled system error; Call to connect failed"));
}

TEST(NcclGroup, IsSplitIntoOneOfItsFirstRanks) {
  const WithStubNccl stub;
  Gpus gpus;
  const Nccl nccl;
  NcclGroup all(nccl, first(gpus, 4), {});
  const auto three = all.split(3);
  const auto two = all.split(2);
  EXPECT_EQ(three->size(), 3);
  EXPECT_EQ(two->here().count, 2);
  EXPECT_NE(two->comm(0), all.comm(0));
}

/// The parent's state is that of the split: NCCL takes no other call from it.
TEST(NcclGroup, ASplitThatIsNeverFinishedEndsItsParentToo) {
  const WithStubNccl stub("hang_init@3");  // after two ranks of the parent
  Gpus gpus;
  const Nccl nccl;
  NcclGroup all(nccl, first(gpus, 2), {.timeout = std::chrono::milliseconds(100)});
  EXPECT_THROW((void)all.split(2), Error);
  EXPECT_TRUE(all.aborted());
  NcclGroup anew(nccl, first(gpus, 2), {.timeout = std::chrono::milliseconds(100)});
  EXPECT_EQ(anew.split(2)->size(), 2);
}

/// Of the stub, which is no better than what it stands for: NCCL writes the handle when its own thread is done.
TEST(NcclGroup, TheHandleOfASplitIsThereOnlyOnceItsParentSaysSo) {
  const WithStubNccl stub;
  Gpus gpus;
  const Nccl nccl;
  const NcclGroup one(nccl, first(gpus, 1), {});
  nccl::Comm made = one.comm(0);
  ASSERT_EQ(nccl->split(one.comm(0), 0, 0, &made, nullptr), nccl::Result::in_progress);
  EXPECT_EQ(made, nullptr);
  nccl::Result state = nccl::Result::in_progress;
  while (state == nccl::Result::in_progress) (void)nccl->get_async_error(one.comm(0), &state);
  ASSERT_EQ(state, nccl::Result::success);
  ASSERT_NE(made, nullptr);
  (void)nccl->abort(made);
}

/// As processes do it: each knows the id, and has one rank.
TEST(NcclGroup, IsMadeByThreadsThatKnowItsId) {
  constexpr int kRanks = 3;
  const WithStubNccl stub;
  Gpus gpus;
  const Nccl nccl;
  const nccl::UniqueId id = NcclGroup::new_id(nccl);
  std::vector<std::thread> threads;
  std::vector<int> sizes(kRanks), of_split(kRanks), here_of_split(kRanks);
  for (int rank = 0; rank < kRanks; ++rank)
    threads.emplace_back([&, rank] {
      const auto i = static_cast<std::size_t>(rank);
      NcclGroup group(nccl, {&gpus[rank]}, {.ranks = kRanks, .first = rank, .id = id}, {});
      sizes[i] = group.size();
      const auto two = group.split(2);
      of_split[i] = two->size();
      here_of_split[i] = two->here().count;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sizes, (std::vector<int>{3, 3, 3}));
  EXPECT_EQ(of_split, (std::vector<int>{2, 2, 2}));
  EXPECT_EQ(here_of_split, (std::vector<int>{1, 1, 0}));
}

}  // namespace
}  // namespace collmark
