#include "kernels/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "collectives/catalogue.hpp"
#include "kernels/kernel_case.hpp"
#include "kernels/running.hpp"
#include "kernels/with_stub.hpp"

namespace collmark {
namespace {

TEST(GpuCollective, ConsecutiveRanksShareADevice) {
  const WithStub stub("", 2);
  Gpus gpus;
  const Running five(gpus, ring(5, 10));
  ASSERT_EQ(five.collective.devices(), 2);
  for (int rank = 0; rank < 5; ++rank)
    EXPECT_EQ(five.collective.device_of(rank), rank < 3 ? 0 : 1) << rank;
  EXPECT_EQ(Running(gpus, ring(1, 10)).collective.devices(), 1);
}

TEST(GpuCollective, BuffersMissAMultipleOf16BytesByWhatIsAskedFor) {
  const WithStub stub;
  Gpus gpus;
  GpuTuning asked = kSmall;
  asked.misaligned = 3;
  KernelTask task = ring(2, 10);
  const auto past_a_pack = [](const std::byte* at) {
    return reinterpret_cast<std::uintptr_t>(at) % 16;
  };
  const GpuCollective apart(gpus, task, asked);
  task.placement = Placement::in_place;
  const GpuCollective in_place(gpus, task, asked);
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(past_a_pack(apart.input(rank)), 12u);
    EXPECT_EQ(past_a_pack(apart.output(rank)), 0u);
    EXPECT_EQ(past_a_pack(in_place.input(rank)), 12u);
    EXPECT_EQ(in_place.output(rank), in_place.input(rank));
  }
}

TEST(GpuCollective, RunsInStreamsAndBuffersOfOthers) {
  const WithStub stub("", 2);
  Gpus gpus;
  GpuStream one(gpus[0]), other(gpus[1]);
  const GpuMemory first(gpus[0], Bytes{4}), second(gpus[1], Bytes{4});
  KernelTask task = ring(2, 1);
  EXPECT_THROW(GpuCollective(gpus, task, kSmall, {.buffers = {first.data(), second.data()}}),
               Error);
  task.placement = Placement::in_place;
  GpuCollective collective(gpus, task, kSmall,
                           {.streams = {&one, &other}, .buffers = {first.data(), second.data()}});
  EXPECT_EQ(&collective.stream(1), &other);
  const float values[] = {3.0F, 4.0F};
  float sums[] = {0.0F, 0.0F};
  const auto bytes = [](auto* value) { return reinterpret_cast<std::byte*>(value); };
  one.copy_to_device(first.data(), reinterpret_cast<const std::byte*>(&values[0]), Bytes{4});
  other.copy_to_device(second.data(), reinterpret_cast<const std::byte*>(&values[1]), Bytes{4});
  collective.run();
  one.copy_to_host(bytes(&sums[0]), collective.output(0), Bytes{4});
  other.copy_to_host(bytes(&sums[1]), second.data(), Bytes{4});
  GpuClock clock({&one, &other}, HostPatience{});
  clock.finish();
  EXPECT_EQ(sums[0], 7.0F);
  EXPECT_EQ(sums[1], 7.0F);
}

TEST(GpuCollective, ItsBusiestRankMovesTheBytesOfTheFormula) {
  for (const int devices : {1, 2}) {
    const WithStub stub("", devices);
    Gpus gpus;
    Running run(gpus, ring(4, 256));
    run.collective.run();  // counts nothing
    run.clock.finish();
    ASSERT_TRUE(run.collective.run_counted());
    run.clock.finish();
    run.collective.run();
    run.clock.finish();
    EXPECT_EQ(run.collective.busiest(), Bytes{2 * 3 * 256});  // 2K(P-1)/P at P = 4, K = 4 x 256
    EXPECT_EQ(run.collective.sent(), Bytes{4 * 2 * 3 * 256});
  }
}

TEST(GpuCollective, OwnersMoveTheirChunksHoweverRanksLieOnDevices) {
  const std::map<std::string, std::int64_t> bytes{{"parameter_server", 3 * 1024},  // C(P-1)
                                                  {"sharded_parameter_server:2", 2 * 512},
                                                  {"two_shot/simple", 2 * 3 * 256},
                                                  {"two_shot/LL", 2 * 3 * 256}};
  for (const int devices : {1, 2, 3, 4})
    for (const auto& [algorithm, busiest] : bytes) {
      const WithStub stub("", devices);
      Gpus gpus;
      KernelTask task = ring(4, 256);
      task.name = parse_kernel_name(algorithm);
      Running run(gpus, task);
      ASSERT_TRUE(run.collective.run_counted());
      run.clock.finish();
      EXPECT_EQ(run.collective.busiest(), Bytes{busiest}) << algorithm << ", " << devices;
    }
}

TEST(GpuCollective, ALaunchThatIsRefusedWhileItCountsLeavesNobodyCounting) {
  const WithStub stub("launch_error@1");
  Gpus gpus;
  Running run(gpus, ring(4, 256));
  EXPECT_THROW((void)run.collective.run_counted(), Unsupported);
  run.clock.finish();
  const auto* const there = reinterpret_cast<const TransferCounts*>(
      gpus[0].variable("collmark_transfer_counts", Bytes{sizeof(TransferCounts)}));
  EXPECT_EQ(there->elements, nullptr);
}

TEST(GpuCollective, WhatIsCountedIsWaitedForWithPatience) {
  const WithStub stub("hang");
  auto* const gpus = new Gpus;  // what hangs is left behind, with all that it may use
  auto* const run = new Running(*gpus, ring(2, 10));
  static const void* const left[] = {gpus, run};
  ASSERT_NE(left[0], nullptr);
  EXPECT_TRUE(run->collective.run_counted());
  GpuClock& clock = *new GpuClock(run->streams(), {.timeout = std::chrono::milliseconds(20)});
  static const void* const also_left = &clock;
  ASSERT_NE(also_left, nullptr);
  EXPECT_THROW(clock.finish(), Error);
}

TEST(GpuCollective, ARankThatIsLeftOutIsWaitedForAndNamed) {
  const WithStub stub;
  Gpus gpus;
  for (const int absent : {0, 3}) {
    Running run(gpus, ring(4, 256));
    run.collective.set_longest_wait(std::chrono::milliseconds(20));
    run.collective.leave_out(absent);
    const auto begin = std::chrono::steady_clock::now();
    run.collective.run();
    run.collective.queue_report();
    run.clock.finish();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(20));
    ASSERT_TRUE(run.collective.gave_up());
    run.collective.queue_complaint();
    run.clock.finish();
    EXPECT_THAT(run.collective.complaint(),
                testing::HasSubstr("waited for rank " + std::to_string(absent)));
  }
}

TEST(GpuCollective, WhatSharesAWordOfGivingUpWaitsForAMissingRankOnce) {
  const WithStub stub;
  Gpus gpus;
  GpuStream stream(gpus[0]);
  const GpuMemory word = word_of_giving_up(stream);
  const GpuPlace place{.streams = {&stream}, .given_up = {word.data()}};
  GpuCollective hasty(gpus, ring(4, 256), kSmall, place);
  GpuCollective patient(gpus, ring(4, 256), kSmall, place);
  hasty.set_longest_wait(std::chrono::milliseconds(20));
  patient.set_longest_wait(std::chrono::minutes(10));
  for (GpuCollective* one : {&hasty, &patient}) {
    one->leave_out(3);
    one->run();
    one->queue_report();
    one->queue_complaint();
  }
  GpuClock clock({&stream}, HostPatience{});
  clock.finish();
  for (const GpuCollective* one : {&hasty, &patient}) {
    EXPECT_TRUE(one->gave_up());
    EXPECT_THAT(one->complaint(), testing::HasSubstr("waited for rank 3"));
  }
}

TEST(GpuCollective, AGridThatDoesNotFitIsRefusedWithItsBlocks) {
  const WithStub stub("small_device");
  Gpus gpus;
  try {
    const Running run(gpus, ring(3, 10));
    FAIL();
  } catch (const Unsupported& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("are 6 blocks"));
  }
}

TEST(GpuCollective, MoreChannelsAreTakenForLargerBuffersAsFarAsTheyFit) {
  const WithStub stub;
  Gpus gpus;
  const GpuCollective small(gpus, ring(2, 10), {});
  const GpuCollective large(gpus, ring(2, 1 << 20), {});
  EXPECT_EQ(small.job().channels(), 1);
  EXPECT_EQ(large.job().channels(), 2);  // of 4 multiprocessors for 2 ranks
}

/// Devices that hold one block of most kernels on a multiprocessor: A100, H100, H200 and B200.
TEST(GpuCollective, EveryKernelFitsByItsDefaultsOnDevicesOfOneBlockForEachMultiprocessor) {
  for (const char* shape : {"108x1", "114x1", "132x1", "148x1"}) {
    const WithStub stub;
    const WithShape large(shape);
    Gpus gpus;
    for (const NamedKernel& kernel : hand_written_kernels())
      for (int ranks = 1; ranks <= 8; ++ranks) {
        if (!supports(kernel, ranks)) continue;
        const KernelTask task{.name = parse_kernel_name(kernel.algorithm),
                              .collective = kernel.collective,
                              .ranks = ranks,
                              .payload = {.count = {1 << 18}, .dtype = Dtype::f32}};
        EXPECT_NO_THROW(GpuCollective(gpus, task, {}))
            << shape << " " << kernel.algorithm << ", " << ranks << " ranks";
      }
  }
}

}  // namespace
}  // namespace collmark
