#include <gtest/gtest.h>

#include "collectives/catalogue.hpp"
#include "kernels/kernel_case.hpp"

namespace collmark {
namespace {

const std::vector<std::string> kAlgorithms{"ring",
                                           "one_shot",
                                           "two_shot",
                                           "parameter_server",
                                           "parameter_server_dedicated",
                                           "sharded_parameter_server:2"};

bool supports(const std::string& algorithm, int ranks) {
  try {
    return build(Collective::all_reduce, algorithm, ranks).ranks == ranks;
  } catch (const Unsupported&) {
    return false;
  }
}

std::string words(const KernelCase& c) {
  return c.algorithm + " ranks " + std::to_string(c.ranks) + " count " +
         std::to_string(c.payload.count.value) + " " + std::string(name(c.payload.dtype)) + " " +
         std::string(name(c.payload.op)) + " misaligned " + std::to_string(c.misalignment) +
         " seed " + std::to_string(c.seed);
}

TEST(Kernels, EqualTheReferenceForEveryDtypeOperatorAndPlacement) {
  std::uint64_t seed = 1;
  for (const std::string& algorithm : kAlgorithms)
    for (const Dtype dtype : kDtypes)
      for (const ReduceOp op : kReduceOps)
        for (const Placement placement : {Placement::in_place, Placement::out_of_place}) {
          const KernelCase c{.algorithm = algorithm,
                             .ranks = 3,
                             .payload = {.count = {103}, .dtype = dtype, .op = op},
                             .placement = placement,
                             .seed = ++seed};
          EXPECT_EQ(differs(c), "") << words(c);
        }
}

class KernelsOfRanks : public testing::TestWithParam<int> {};

TEST_P(KernelsOfRanks, EqualTheReferenceForOddCountsAndAnyAlignment) {
  const int n = GetParam();
  for (const std::string& algorithm : kAlgorithms) {
    if (!supports(algorithm, n)) continue;
    for (const int count : {0, 1, n - 1, n, n + 1, 1003})
      for (const int misalignment : {0, 1, 3}) {
        const KernelCase c{.algorithm = algorithm,
                           .ranks = n,
                           .payload = {.count = {count}},
                           .misalignment = misalignment,
                           .seed = static_cast<std::uint64_t>(100 * n + count)};
        EXPECT_EQ(differs(c), "") << words(c);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(All, KernelsOfRanks, testing::Range(1, 10));

TEST(Kernels, EqualTheReferenceUnderManySchedules) {
  for (const std::string& algorithm : kAlgorithms)
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const KernelCase c{.algorithm = algorithm,
                         .ranks = 5,
                         .payload = {.count = {203}},
                         .placement = seed % 2 == 0 ? Placement::in_place : Placement::out_of_place,
                         .slots = seed % 3 == 0 ? 4 : 2,
                         .slot_elements = 8,
                         .launches = 4,
                         .seed = 1000 * seed};
      EXPECT_EQ(differs(c), "") << words(c);
    }
}

TEST(Kernels, EqualTheReferenceOnRealThreads) {
  for (const std::string& algorithm : kAlgorithms) {
    const KernelCase c{.algorithm = algorithm,
                       .ranks = 3,
                       .payload = {.count = {203}},
                       .lanes = 4,
                       .slot_elements = 16,
                       .engine = grid::Engine::threads};
    EXPECT_EQ(differs(c), "") << words(c);
  }
}

TEST(Kernels, SlotsThatTheWrapOfACounterWouldConfuseAreRefused) {
  for (const int slots : {1, 3, 6})
    EXPECT_THROW((void)differs({.payload = {.count = {10}}, .slots = slots}), Error) << slots;
}

TEST(Kernels, ARankThatNeverComesIsNamed) {
  for (const std::string& algorithm : kAlgorithms) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const KernelCase c{.algorithm = algorithm,
                         .ranks = 4,
                         .payload = {.count = {100}},
                         .launches = 1,
                         .seed = seed,
                         .looks = 2000,
                         .silent_rank = 3};
      const std::string said = differs(c);
      EXPECT_EQ(said, "rank 0 waited for rank 3 in step 0") << algorithm;
    }
  }
}

}  // namespace
}  // namespace collmark
