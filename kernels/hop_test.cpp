#include "kernels/hop.hpp"

#include <gtest/gtest.h>

#include "kernels/hop_case.hpp"

namespace collmark {
namespace {

TEST(Hops, BringWhatWasSentUnderManySchedulesAndOverTheWrap) {
  for (const char* const kernel : kHopKernels)
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      HopEnds ends(seed % 2 == 0 ? 0 : 0xfffffff0);
      for (int launch = 0; launch < 2; ++launch)
        EXPECT_EQ(ends.run(kernel, {.blocks = 2, .lanes = 2, .seed = seed, .blocks_per_rank = 1}),
                  "")
            << "seed " << seed;
    }
}

TEST(Hops, BringWhatWasSentOnRealThreads) {
  for (const char* const kernel : kHopKernels) {
    HopEnds ends(0xfffffff0);
    EXPECT_EQ(ends.run(kernel, {.blocks = 2, .lanes = 1, .engine = grid::Engine::threads}), "");
  }
}

TEST(Hops, OfALaunchWithoutTripsTouchNothing) {
  for (const char* const kernel : kHopKernels) {
    HopEnds ends(0);
    ends.what.trips = 0;
    EXPECT_EQ(ends.run(kernel, {.blocks = 2, .lanes = 2}), "");
    EXPECT_EQ(ends.boxes[0].flag + ends.boxes[1].flag, 0U);
  }
}

TEST(Hops, AnEndThatIsNotThereIsNamed) {
  for (const char* const kernel : kHopKernels)
    for (const int end : {0, 1}) {
      HopEnds ends(0);
      ends.what.first_end = end;
      ends.what.longest_wait = 2'000;
      EXPECT_EQ(ends.run(kernel, {.blocks = 1, .lanes = 1}),
                "rank " + std::to_string(end) + " waited for rank " + std::to_string(1 - end) +
                    " in step 1: its message on channel 0, flag 1 expected, 0 found");
    }
}

TEST(Hops, DataThatAreNotWhatWasSentAreNoticed) {
  for (const char* const kernel : kHopKernels) {
    HopEnds ends(0);
    ends.what.first_end = 1;
    ends.what.trips = 1;
    ends.boxes[1].flag = 1;  // a flag without its data
    ends.boxes[1].word = ends.boxes[1].line[0] = ends.boxes[1].line[1] = std::uint64_t{1} << 32;
    EXPECT_EQ(ends.run(kernel, {.blocks = 1, .lanes = 1}), std::string(kernel) + " differs");
  }
}

}  // namespace
}  // namespace collmark
