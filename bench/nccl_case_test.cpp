#include "bench/nccl_case.hpp"

#include <gtest/gtest.h>

#include <array>

namespace collmark {
namespace {

using Ran = std::optional<TuningLog::Ran>;

const Ran kRing = TuningLog::Ran{.algorithm = "ring", .protocol = "simple", .channels = 8};
const Ran kTree = TuningLog::Ran{.algorithm = "tree", .protocol = "ll", .channels = 2};

CaseResult noted(const std::array<Ran, 3>& ran, std::size_t of, const NcclChoice& choice = {}) {
  CaseResult result{.algorithm = "asked"};
  note_what_ran(result, ran, of, choice);
  return result;
}

TEST(NcclCase, OperationsThatAllRanTheSame_AreSaidOnce) {
  EXPECT_EQ(noted({kRing, kRing, kRing}, 1).tuning, "algorithm=ring protocol=simple channels=8");
  EXPECT_EQ(noted({Ran{}, Ran{}, Ran{}}, 1).tuning, "NCCL does not say what ran");
}

TEST(NcclCase, WhatOthersRan_StandsBehindTheOneAskedAboutAndOnce) {
  EXPECT_EQ(
      noted({kTree, kRing, kTree}, 1).tuning,
      "algorithm=ring protocol=simple channels=8; others algorithm=tree protocol=LL channels=2");
}

TEST(NcclCase, OneOperationThatDidNotDoWhatIsForced_StandsInTheName) {
  const NcclChoice ring{.algorithm = "Ring"};
  EXPECT_EQ(noted({kRing, kRing, kRing}, 0, ring).algorithm, "asked");
  EXPECT_EQ(noted({kRing, kRing, kTree}, 0, ring).algorithm, "asked->tree/LL");
  EXPECT_EQ(noted({kTree, kRing, kRing}, 0, ring).algorithm, "asked->tree/LL");
}

}  // namespace
}  // namespace collmark
