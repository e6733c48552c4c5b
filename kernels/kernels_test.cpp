#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "collectives/error.hpp"
#include "kernels/kernel_case.hpp"
#include "kernels/kernel_job.hpp"

namespace collmark {
namespace {

bool can_be_in_place(const NamedKernel& kernel) {
  return kernel.collective != Collective::all_to_all;
}

KernelCase case_of(const NamedKernel& kernel, int ranks) {
  return {.kernel = kernel, .ranks = ranks};
}

TEST(Kernels, EqualTheReferenceForEveryDtypeOperatorAndPlacement) {
  std::uint64_t seed = 1;
  for (const NamedKernel& kernel : hand_written_kernels())
    for (const Dtype dtype : kDtypes)
      for (const ReduceOp op : kReduceOps)
        for (const Placement placement : {Placement::in_place, Placement::out_of_place}) {
          if (!reduces(kernel.collective) && op != ReduceOp::sum) continue;
          KernelCase c = case_of(kernel, 3);
          c.payload = {.count = {53}, .dtype = dtype, .op = op};
          c.placement = placement;
          c.lanes = 4;
          c.launches = 2;
          c.seed = ++seed;
          EXPECT_EQ(differs(c), "") << words(c);
        }
}

TEST(Kernels, TheInterpreterEqualsTheReferenceForEveryDtypeAndOperator) {
  std::uint64_t seed = 1;
  for (const Dtype dtype : kDtypes)
    for (const ReduceOp op : kReduceOps) {
      KernelCase c = case_of({Collective::all_reduce, "hierarchical_ring_interpreted"}, 4);
      c.payload = {.count = {53}, .dtype = dtype, .op = op};
      c.placement = seed % 2 == 0 ? Placement::in_place : Placement::out_of_place;
      c.lanes = 4;
      c.seed = ++seed;
      EXPECT_EQ(differs(c), "") << words(c);
    }
}

class KernelsOfRanks : public testing::TestWithParam<int> {};

TEST_P(KernelsOfRanks, EqualTheReferenceForOddCountsAndAnyAlignment) {
  const int n = GetParam();
  for (const NamedKernel& kernel : all_kernels()) {
    if (!supports(kernel, n)) continue;
    for (const int count : {0, 1, n - 1, n, n + 1, 301})
      for (const int misalignment : {0, 1}) {
        KernelCase c = case_of(kernel, n);
        c.payload.count = {count};
        c.placement = can_be_in_place(kernel) && (count + misalignment) % 2 == 0
                          ? Placement::in_place
                          : Placement::out_of_place;
        c.root = n > 1 && (kernel.collective == Collective::broadcast ||
                           kernel.collective == Collective::reduce)
                     ? 1
                     : 0;
        c.lanes = 4;
        c.launches = 2;
        c.misalignment = misalignment;
        c.seed = static_cast<std::uint64_t>(100 * n + count);
        EXPECT_EQ(differs(c), "") << words(c);
      }
  }
}

/// What else there is in a case is drawn, so that few stand for many.
TEST_P(KernelsOfRanks, EqualTheReferenceForEveryDtypeOperatorOddCountsAndAnyAlignment) {
  const int n = GetParam();
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  const auto drawn = [&](int most) {  // from 0
    return static_cast<int>(random() % static_cast<std::uint64_t>(most + 1));
  };
  std::vector<NamedKernel> kernels = hand_written_kernels();
  kernels.push_back({Collective::all_reduce, "ring_interpreted"});
  kernels.push_back({Collective::reduce_scatter, "ring_interpreted"});
  for (const NamedKernel& kernel : kernels)
    for (const Dtype dtype : kDtypes)
      for (const ReduceOp op : kReduceOps) {
        if (!reduces(kernel.collective) && op != ReduceOp::sum) continue;
        if (!supports(kernel, n)) continue;
        KernelCase c = case_of(kernel, n);
        c.payload = {.count = {drawn(120)}, .dtype = dtype, .op = op};
        c.placement = drawn(1) == 0 ? Placement::in_place : Placement::out_of_place;
        c.channels = 1 + drawn(2);
        c.lanes = 1 + drawn(3);
        c.slots = drawn(1) == 0 ? 2 : 4;
        c.slot_elements = 1 + drawn(40);
        c.launches = 2;
        const int pack = 16 / static_cast<int>(size_of(dtype));  // elements
        c.misalignment = drawn(pack - 1);
        c.output_misalignment = drawn(pack - 1);
        c.seed = random();
        EXPECT_EQ(differs(c), "") << words(c);
      }
}

INSTANTIATE_TEST_SUITE_P(All, KernelsOfRanks, testing::Range(1, 10),
                         testing::PrintToStringParamName());

TEST(Kernels, EqualTheReferenceUnderManySchedules) {
  for (const NamedKernel& kernel : all_kernels())
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      KernelCase c = case_of(kernel, 5);
      if (!supports(kernel, 5)) continue;
      c.payload.count = {203};
      c.placement =
          can_be_in_place(kernel) && seed % 2 == 0 ? Placement::in_place : Placement::out_of_place;
      c.lanes = 4;
      c.slots = seed % 3 == 0 ? 4 : 2;
      c.slot_elements = 8;
      c.launches = 4;
      c.seed = 1000 * seed;
      EXPECT_EQ(differs(c), "") << words(c);
    }
}

/// Chunks of no pack to three, each with one element less and more.
TEST_P(KernelsOfRanks, EqualTheReferenceForWholePacksAndTheirNeighbours) {
  constexpr int kPack = 4;  // elements
  const int n = GetParam();
  for (const NamedKernel& kernel : hand_written_kernels()) {
    if (!supports(kernel, n)) continue;
    for (int packs = 0; packs <= 3; ++packs)
      for (int count = std::max(0, packs * kPack - 1); count <= packs * kPack + 1; ++count) {
        KernelCase c = case_of(kernel, n);
        c.payload.count = {n * count};
        c.placement = count % 2 == 0 ? Placement::in_place : Placement::out_of_place;
        c.channels = 1;
        c.lanes = 2;
        c.slot_elements = 2 * kPack;
        c.launches = 4;
        c.seed = static_cast<std::uint64_t>(1000 * n + 10 * packs + count);
        EXPECT_EQ(differs(c), "") << words(c);
      }
  }
}

TEST(Kernels, EqualTheReferenceOnRealThreads) {
  for (const NamedKernel& kernel : all_kernels()) {
    KernelCase c = case_of(kernel, 4);
    c.payload.count = {203};
    c.channels = 1;
    c.lanes = 4;
    c.slot_elements = 16;
    c.engine = grid::Engine::threads;
    EXPECT_EQ(differs(c), "") << words(c);
  }
}

TEST(Kernels, EqualTheReferenceForBuffersOfManySlotsAndTiles) {
  for (const NamedKernel& kernel : all_kernels()) {
    KernelCase c = case_of(kernel, 4);
    // Every line of LL is a flag of its own, at which fibers switch.
    const bool small = parse_kernel_name(kernel.algorithm).way == Way::low_latency;
    c.payload = {.count = {small ? 1003 : 262144}, .dtype = Dtype::f16};
    c.lanes = 4;
    c.slots = 4;
    c.slot_elements = 5000;
    c.launches = 2;
    EXPECT_EQ(differs(c), "") << words(c);
  }
}

TEST(Kernels, EqualTheReferenceWithHundredsOfLanes) {
  for (const NamedKernel& kernel : hand_written_kernels()) {
    KernelCase c = case_of(kernel, 4);
    c.payload.count = {2003};
    c.channels = 4;
    c.lanes = 32;
    c.slot_elements = 200;
    c.launches = 2;
    EXPECT_EQ(differs(c), "") << words(c);
  }
}

TEST(Kernels, SlotsThatTheWrapOfACounterWouldConfuseAreRefused) {
  for (const int slots : {1, 3, 6})
    EXPECT_THROW((void)differs({.payload = {.count = {10}}, .slots = slots}), Error) << slots;
}

TEST(Kernels, ARankThatNeverComesIsNamed) {
  for (const NamedKernel& kernel : hand_written_kernels()) {
    if (kernel.collective != Collective::all_reduce) continue;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      KernelCase c = case_of(kernel, 4);
      c.payload.count = {100};
      c.launches = 1;
      c.seed = seed;
      c.longest_wait = 50'000;  // turns
      c.silent_rank = 3;
      const std::string said = differs(c);
      EXPECT_NE(said.find("waited for rank 3 in step"), std::string::npos)
          << words(c) << ": " << said;
      EXPECT_NE(said.find(" on channel "), std::string::npos) << words(c) << ": " << said;
    }
  }
}

TEST(Kernels, AWaitInVainIsToldWithItsSlotAndFlag) {
  for (const auto& [algorithm, awaited] :
       {std::pair("ring/simple",
                  "data in slot 0 on channel 0, flag 4294967293 expected, 4294967292 found"),
        std::pair("ring/LL",
                  "data in slot 0 on channel 0, flag 4294967293 expected, 1515870810 found"),
        std::pair("ring_interpreted",
                  "its progress on channel 0, flag 4294967293 expected, 4294967292 found"),
        std::pair(
            "one_shot/simple",
            "its arrival at the barrier on channel 0, flag 4294967293 expected, 4294967292 found"),
        std::pair("one_shot/LL", "its line on channel 0, flag 4294967293 expected, 0 found")}) {
    KernelCase c = case_of({Collective::all_reduce, algorithm}, 4);
    c.payload.count = {100};
    c.launches = 1;
    c.longest_wait = 50'000;  // turns
    c.silent_rank = 3;
    EXPECT_EQ(differs(c), std::string("rank 0 waited for rank 3 in step 0: ") + awaited);
  }
}

}  // namespace
}  // namespace collmark
