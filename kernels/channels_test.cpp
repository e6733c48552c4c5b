#include "kernels/channels.hpp"

#include <gtest/gtest.h>

#include "kernels/kernel_case.hpp"
#include "kernels/kernel_job.hpp"

namespace collmark {
namespace {

constexpr Elements kSmall{100};

/// What its channels are a multiple of.
int unit_of(const NamedKernel& kernel, int ranks) {
  const KernelTask task{.name = parse_kernel_name(kernel.algorithm),
                        .collective = kernel.collective,
                        .ranks = ranks,
                        .payload = {.count = kSmall}};
  return KernelJob(task, {.channels = 1}).channels();
}

TEST(Channels, OfEveryKernelFitOnEveryDeviceThatHoldsItAtAll) {
  for (const NamedKernel& kernel : hand_written_kernels())
    for (int ranks = 1; ranks <= 9; ++ranks) {
      if (!supports(kernel, ranks)) continue;
      const int unit = unit_of(kernel, ranks);
      for (int multiprocessors = 80; multiprocessors <= 160; ++multiprocessors)
        for (int each = 1; each <= 4; ++each) {
          const Room room{each * multiprocessors, multiprocessors, ranks};
          ASSERT_LE(unit * ranks, room.blocks);  // of these devices all hold it
          for (const std::int64_t size : {0, 4, 40 << 10, 100 << 10, 1 << 20, 1 << 30}) {
            const int channels = channels_for(Bytes{size}, unit, room);
            EXPECT_EQ(channels % unit, 0) << kernel.algorithm;
            EXPECT_GE(channels, 1);
            EXPECT_LE(channels * ranks, room.blocks)
                << kernel.algorithm << ", " << ranks << " ranks, " << size << " bytes, "
                << multiprocessors << " multiprocessors of " << each << " blocks";
          }
        }
    }
}

TEST(Channels, AreAsManyAsTheBufferIsWorthAndTheDeviceHolds) {
  const Room h200{.blocks = 132, .multiprocessors = 132, .ranks = 4};
  EXPECT_EQ(channels_for(Bytes{4}, 1, h200), 1);
  EXPECT_EQ(channels_for(Bytes{64 << 10}, 1, h200), 2);
  EXPECT_EQ(channels_for(Bytes{64 << 20}, 1, h200), 33);
  EXPECT_EQ(channels_for(Bytes{64 << 20}, 4, h200), 32);
  EXPECT_EQ(channels_for(Bytes{64 << 20}, 1, {.blocks = 528, .multiprocessors = 132}), 64);
  EXPECT_EQ(channels_for(Bytes{64 << 20}, 4, {.blocks = 9, .multiprocessors = 9, .ranks = 3}), 4);
}

}  // namespace
}  // namespace collmark
