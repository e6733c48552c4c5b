#include "kernels/gpu_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/catalogue.hpp"
#include "kernels/running.hpp"
#include "kernels/with_stub.hpp"

namespace collmark {
namespace {

TEST(GpuClock, TimesWhatComesBetweenStartAndStop) {
  const WithStub stub;
  Gpus gpus;
  Running run(gpus, ring(2, 10));
  run.clock.start();
  run.collective.run();
  run.clock.launched();
  EXPECT_GT(run.clock.stop().count(), 0.0);
  EXPECT_TRUE(run.clock.idle());
}

TEST(GpuClock, AGateIsOpenedEarlyBeforeAStreamIsFull) {
  const WithStub stub;
  Gpus gpus;
  Running run(gpus, ring(1, 1));
  run.clock.start();
  for (int i = 0; i < 1'100; ++i) {  // the stub's holds 1024
    run.collective.run();
    run.clock.launched();
  }
  EXPECT_GT(run.clock.stop().count(), 0.0);
}

/// Somebody gives up in between: what is under way is.
TEST(GpuClock, IsNotIdleBetweenStartAndStop) {
  const WithStub stub;
  Gpus gpus;
  Running run(gpus, ring(2, 10));
  run.clock.start();
  run.collective.run();
  EXPECT_FALSE(run.clock.idle());
  run.clock.let_go();
  run.clock.finish();
  EXPECT_TRUE(run.clock.idle());
}

/// As under a debugger, or with a stream that is full.
TEST(GpuClock, AGateOpensByItselfWhenALaunchWaitsForIt) {
  const WithStub stub("blocking_launch");
  Gpus gpus;
  GpuCollective collective(gpus, ring(2, 1), kSmall);
  GpuClock clock({&collective.stream(0)}, {.timeout = std::chrono::milliseconds(100)});
  clock.start();
  collective.run();
  clock.launched();
  EXPECT_THROW((void)clock.stop(), Unsupported);
  EXPECT_TRUE(clock.idle());
}

TEST(GpuClock, AStreamThatIsFullBehindAGateIsNotWaitedForWithoutEnd) {
  const WithStub stub;
  Gpus gpus;
  GpuStream stream(gpus[0]);
  const GpuMemory word(gpus[0], Bytes{4});
  GpuClock clock({&stream}, {.timeout = std::chrono::milliseconds(100)});
  clock.start();
  for (int i = 0; i < 2'000; ++i)
    stream.set(word.data(), 0, word.size());  // nobody says launched()
  EXPECT_THROW((void)clock.stop(), Unsupported);
}

TEST(GpuClock, GivesUpOnAKernelThatNeverEnds) {
  const WithStub stub("hang");
  auto* const gpus = new Gpus;  // what hangs is left behind, with all that it may use
  auto* const collective = new GpuCollective(*gpus, ring(2, 10), kSmall);
  auto* const clock =
      new GpuClock({&collective->stream(0)}, {.timeout = std::chrono::milliseconds(20)});
  static const void* const left[] = {gpus, collective, clock};
  ASSERT_NE(left[0], nullptr);
  collective->run();
  try {
    clock->finish();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::timed_out) << e.what();
  }
}

}  // namespace
}  // namespace collmark
