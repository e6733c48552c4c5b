#include "collectives/dataflow.hpp"

#include <gtest/gtest.h>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

Schedule one_transfer(const Transfer& x) {
  return {.ranks = 3, .chunks = 5, .steps = 1, .step = [=](int, Emit emit) { emit(x); }};
}

TEST(Dataflow, TransfersUpToTheLastRankAndChunk_AreTaken) {
  EXPECT_NO_THROW((void)dataflow(one_transfer(Reduce{.src = 0, .dst = 2, .chunk = 4})));
  EXPECT_NO_THROW((void)dataflow(one_transfer(Reduce{.src = 2, .dst = 0, .chunk = 0, .count = 5})));
  EXPECT_NO_THROW((void)dataflow(one_transfer(Signal{.src = 2, .dst = 0})));
}

TEST(Dataflow, TransfersBeyondTheRanksOrChunks_AreRefused) {
  const auto refused = [](const Transfer& x) {
    try {
      (void)dataflow(one_transfer(x));
    } catch (const Error& e) {
      return e.kind() == ErrorKind::usage;
    }
    return false;
  };
  EXPECT_TRUE(refused(Reduce{.src = 3, .dst = 0, .chunk = 0}));
  EXPECT_TRUE(refused(Reduce{.src = 0, .dst = 3, .chunk = 0}));
  EXPECT_TRUE(refused(Reduce{.src = -1, .dst = 0, .chunk = 0}));
  EXPECT_TRUE(refused(Reduce{.src = 0, .dst = 1, .chunk = -1}));
  EXPECT_TRUE(refused(Reduce{.src = 0, .dst = 1, .chunk = 5}));
  EXPECT_TRUE(refused(Reduce{.src = 0, .dst = 1, .chunk = 1, .count = 5}));
  EXPECT_TRUE(refused(Move{.src = 0, .dst = 1, .src_chunk = 0, .dst_chunk = 4, .count = 2}));
  EXPECT_TRUE(refused(Reduce{.src = 0, .dst = 1, .chunk = 0, .count = -1}));
  EXPECT_TRUE(refused(Reduce{.src = 0, .dst = 1, .chunk = 1, .count = 2'147'483'647}));
}

TEST(Dataflow, EachChunkOfEachRankHasOneLife_BeginningWithWhatItHolds) {
  const Schedule s = build(Collective::broadcast, "star", 3);
  const Dataflow flow = dataflow(s);
  ASSERT_EQ(flow.life.size(), 3U * static_cast<std::size_t>(s.chunks));
  for (int rank = 0; rank < 3; ++rank) {
    const Version& first = flow.version(flow.versions_of(rank, 0).front());
    EXPECT_EQ(first.rank, rank);
    EXPECT_EQ(first.made_by, -1);
    EXPECT_EQ(first.empty, rank != s.root);
  }
}

TEST(Dataflow, AVersionIsContested_IfAnotherReadsItInTheStepThatReplacesIt) {
  // Rank 0 adds rank 1's chunk 0 while rank 1 adds its own chunk 1 into it; chunk 1 stays as it is.
  const Schedule s{.ranks = 2, .chunks = 2, .steps = 1, .step = [](int, Emit emit) {
                     emit(Reduce{.src = 1, .dst = 0, .chunk = 0});
                     emit(Transfer{1, 1, 1, 0, Verb::reduce});
                   }};
  const Dataflow flow = dataflow(s);
  EXPECT_TRUE(flow.version(flow.versions_of(1, 0)[0]).contested);
  EXPECT_FALSE(flow.version(flow.versions_of(0, 0)[0]).contested)
      << "read by its own successor only";
  EXPECT_FALSE(flow.version(flow.versions_of(1, 1)[0]).contested) << "read, but not replaced";
  EXPECT_EQ(flow.versions_of(1, 1).size(), 1U);
}

}  // namespace
}  // namespace collmark
