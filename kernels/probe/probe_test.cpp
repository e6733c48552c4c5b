/// What finds a planted fault: each kind of kernel, several launches in a row, on both engines.
#include <gtest/gtest.h>

#include <array>

#include "kernels/cpu_kernels.hpp"
#include "kernels/data.hpp"
#include "kernels/hop_case.hpp"
#include "kernels/kernel_case.hpp"

namespace collmark {
namespace {

/// Between them they run every line of every kernel.
using C = Collective;
const std::vector<NamedKernel> kKernels{{C::all_reduce, "ring/simple"},
                                        {C::all_reduce, "one_shot/simple"},
                                        {C::all_reduce, "one_shot/LL"},
                                        {C::all_reduce, "two_shot/simple"},
                                        {C::all_reduce, "two_shot/LL"},
                                        {C::all_reduce, "parameter_server/simple"},
                                        {C::all_reduce, "double_binary_tree:3/simple"},
                                        {C::reduce_scatter, "ring/simple"},
                                        {C::all_gather, "ring/simple"},
                                        {C::reduce, "chain:3/simple"},
                                        {C::broadcast, "binomial/simple"},
                                        {C::all_reduce, "ring/LL"},
                                        {C::all_reduce, "double_binary_tree:3/LL"},
                                        {C::reduce_scatter, "ring/LL"},
                                        {C::all_gather, "ring/LL"},
                                        {C::reduce, "chain:3/LL"},
                                        {C::broadcast, "binomial/LL"},
                                        {C::all_reduce, "ring_interpreted"},
                                        {C::all_reduce, "one_shot_interpreted"},
                                        {C::all_reduce, "recursive_doubling_interpreted"}};

/// Compares a buffer with a pattern, each thread's last element wrong; what is wrong with the verdict, empty if nothing.
std::string misjudged(grid::Engine engine, std::uint64_t seed) {
  constexpr std::array<std::uint32_t, 3> kPattern{11, 22, 33};
  constexpr int kLanes = 8, kCount = 4 * kLanes;
  std::array<std::uint32_t, kCount> values{};
  for (std::size_t i = 0; i < kCount; ++i)
    values[i] = kPattern[i % kPattern.size()] + (i < kCount - kLanes ? 0 : 1);
  WrongCount verdict{-1, -1};
  const Comparison what{.values = {.begin = reinterpret_cast<std::byte*>(values.data()),
                                   .count = kCount,
                                   .pattern = reinterpret_cast<const std::byte*>(kPattern.data()),
                                   .period = kPattern.size()},
                        .verdicts = &verdict};
  (void)grid::run({.blocks = 1, .lanes = kLanes, .engine = engine, .seed = seed},
                  [&] { cpu_kernel("compare_values_4")->run(&what); });
  return verdict.wrong == kLanes && verdict.first == kCount - kLanes ? "" : "the verdict differs";
}

/// What those say who wait for a rank that never comes.
std::string without_a_rank(const NamedKernel& kernel, grid::Engine engine) {
  const bool by_turns = engine == grid::Engine::fibers;
  return differs({.kernel = kernel,
                  .ranks = 4,
                  .payload = {.count = {163}},
                  .channels = 1,
                  .lanes = 4,
                  .slot_elements = 16,
                  .launches = 1,
                  .engine = engine,
                  .longest_wait = by_turns ? 50'000 : 200'000'000,
                  .silent_rank = 3});
}
const std::vector<NamedKernel> kOfEachKindOfWait{{C::all_reduce, "ring/simple"},
                                                 {C::all_reduce, "ring/LL"},
                                                 {C::all_reduce, "one_shot/simple"},
                                                 {C::all_reduce, "one_shot/LL"},
                                                 {C::all_reduce, "ring_interpreted"}};

TEST(Probe, OnFibersARankThatNeverComesIsNamed) {
  for (const NamedKernel& kernel : kOfEachKindOfWait)
    ASSERT_NE(without_a_rank(kernel, grid::Engine::fibers).find("for rank 3"), std::string::npos)
        << kernel.algorithm;
}

TEST(Probe, OnThreadsARankThatNeverComesIsNamed) {
  for (const NamedKernel& kernel : kOfEachKindOfWait)
    ASSERT_NE(without_a_rank(kernel, grid::Engine::threads).find("for rank 3"), std::string::npos)
        << kernel.algorithm;
}

TEST(Probe, OnFibers) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    for (const NamedKernel& kernel : kKernels) {
      const KernelCase c{
          .kernel = kernel,
          .ranks = 4,
          .payload = {.count = {163}, .op = seed % 3 == 0 ? ReduceOp::avg : ReduceOp::sum},
          .placement = seed % 2 == 0 ? Placement::in_place : Placement::out_of_place,
          .lanes = 4,
          .slot_elements = 8,
          .launches = 4,
          .seed = 1000 * seed};
      ASSERT_EQ(differs(c), "") << words(c);
    }
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    for (const char* const kernel : kHopKernels)
      ASSERT_EQ(HopEnds(0xfffffff0)
                    .run(kernel, {.blocks = 2, .lanes = 1, .seed = seed, .blocks_per_rank = 1}),
                "");
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    ASSERT_EQ(misjudged(grid::Engine::fibers, seed), "") << seed;
}

TEST(Probe, AProgramWithoutInstructions) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const KernelCase c{.kernel = {Collective::all_reduce, "two_shot_interpreted"},
                       .ranks = 1,
                       .payload = {.count = {163}},
                       .placement = Placement::in_place,
                       .seed = seed};
    ASSERT_EQ(differs(c), "") << words(c);
  }
}

TEST(Probe, OnThreads) {
  for (const NamedKernel& kernel : kKernels) {
    const KernelCase c{.kernel = kernel,
                       .ranks = 4,
                       .payload = {.count = {163}},
                       .channels = 1,
                       .lanes = 4,
                       .slot_elements = 16,
                       .launches = 4,
                       .engine = grid::Engine::threads};
    ASSERT_EQ(differs(c), "") << words(c);
  }
  for (const char* const kernel : kHopKernels)
    ASSERT_EQ(HopEnds(0).run(kernel, {.blocks = 2, .lanes = 1, .engine = grid::Engine::threads}),
              "");
  ASSERT_EQ(misjudged(grid::Engine::threads, 1), "");
}

}  // namespace
}  // namespace collmark
