#include "kernels/gpu_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"
#include "kernels/with_stub.hpp"

namespace collmark {
namespace {

constexpr Bytes kSize{5000};

/// What measuring one thing ends in.
template <class Measure>
Error failure(Measure measure) {
  try {
    (void)measure();
  } catch (const Error& e) {
    return e;
  }
  return {ErrorKind::broken, "nothing failed"};
}

TEST(GpuLink, BetweenTwoDevicesOrBlocksOfOneEverythingTakesTime) {
  for (const int devices : {1, 2}) {
    const WithStub stub("", devices);
    Gpus gpus;
    ASSERT_EQ(gpus.connect(devices), "");
    GpuLink link(gpus[0], gpus[devices - 1], {.size = kSize});
    EXPECT_GT(link.flag().count(), 0);
    EXPECT_GT(link.low_latency().count(), 0);
    EXPECT_GT(link.word().count(), 0);
    EXPECT_GT(link.flag().count(), 0) << "the counts of the first trips go on";
    EXPECT_GT(link.copy_by_kernel().count(), 0);
    EXPECT_GT(link.copy_by_engine().count(), 0);
    EXPECT_GT(link.launch().count(), 0);
  }
}

TEST(GpuLink, SeveralCopyAtOnceAndEachHasItsTime) {
  const WithStub stub("", 4);
  Gpus gpus;
  ASSERT_EQ(gpus.connect(4), "");
  GpuLink one(gpus[0], gpus[1], {.size = kSize}), other(gpus[3], gpus[2], {.size = kSize});
  const std::vector<Seconds> times = GpuLink::copy_together({&one, &other});
  ASSERT_EQ(times.size(), 2U);
  EXPECT_GT(times[0].count(), 0);
  EXPECT_GT(times[1].count(), 0);
}

/// [1e-9 s]
double ns(Seconds time) { return time.count() * 1e9; }

TEST(GpuLink, ByAPlayedClockEveryFigureIsKnown) {
  const WithStub stub("", 2);
  const WithPlayedClock clock(std::chrono::milliseconds(2));  // GPU 1 takes twice as long
  Gpus gpus;
  ASSERT_EQ(gpus.connect(2), "");
  for (const auto& [from, to] : {std::pair{0, 0}, {1, 1}, {0, 1}, {1, 0}}) {
    GpuLink link(gpus[from], gpus[to], {.size = kSize});
    const double slower = std::max(from, to) + 1, reader = to + 1;
    // The 20 round trips of a launch so long have two ways each, and end when the slower device has.
    EXPECT_NEAR(ns(link.flag()), slower * 2'000'000 / 40, 1);
    EXPECT_NEAR(ns(link.low_latency()), slower * 2'000'000 / 40, 1);
    EXPECT_NEAR(ns(link.word()), slower * 2'000'000 / 40, 1);
    EXPECT_NEAR(ns(link.copy_by_kernel()), reader * 2'000'000, 10);
    EXPECT_NEAR(ns(link.copy_by_engine()), reader * 1'000'000, 10);
    EXPECT_NEAR(ns(link.launch()), reader * 2'000'000, 10);
  }
}

TEST(GpuLink, TogetherEachIsTimedByItsOwnDeviceAndOneSlowCopyChangesNothing) {
  for (const char* const fault : {"", "slow@20", "slow@41"}) {  // 2 launches write, 60 copy
    const WithStub stub(fault, 4);
    const WithPlayedClock clock(std::chrono::microseconds(1));
    Gpus gpus;
    ASSERT_EQ(gpus.connect(4), "");
    GpuLink one(gpus[0], gpus[1], {.size = kSize}), other(gpus[3], gpus[2], {.size = kSize});
    const std::vector<Seconds> times = GpuLink::copy_together({&one, &other});
    ASSERT_EQ(times.size(), 2U);
    EXPECT_NEAR(ns(times[0]), 2'000, 1e-3) << fault;
    EXPECT_NEAR(ns(times[1]), 3'000, 1e-3) << fault;
  }
}

class HangingGpuLink : public testing::TestWithParam<int> {};  // that launch never ends

TEST_P(HangingGpuLink, IsLeftBehindWithItsClock) {
  const WithStub stub("hang@" + std::to_string(GetParam()), 4);
  auto* const gpus = new Gpus;
  ASSERT_EQ(gpus->connect(4), "");
  const GpuLink::Options options{.size = kSize,
                                 .patience = {.timeout = std::chrono::milliseconds(5)}};
  auto* const one = new GpuLink((*gpus)[0], (*gpus)[1], options);
  auto* const other = new GpuLink((*gpus)[2], (*gpus)[3], options);
  static const void* const left[] = {gpus, one, other};
  ASSERT_NE(left[0], nullptr);
  EXPECT_EQ(failure([&] {
              return GpuLink::copy_together({one, other});
            }).kind(),
            ErrorKind::timed_out);
}

// Two write what is copied, then the copies begin.
INSTANTIATE_TEST_SUITE_P(All, HangingGpuLink, testing::Values(1, 3, 4));

TEST(GpuLink, AByteThatComesWrongIsNamed) {
  const WithStub stub("", 2);
  Gpus gpus;
  ASSERT_EQ(gpus.connect(2), "");
  GpuLink link(gpus[1], gpus[0], {.size = kSize, .spoils = true});
  const Error by_kernel = failure([&] { return link.copy_by_kernel(); });
  const Error by_engine = failure([&] { return link.copy_by_engine(); });
  const Error together = failure([&] { return GpuLink::copy_together({&link}); });
  for (const Error& said : {by_kernel, by_engine, together}) {
    EXPECT_EQ(said.kind(), ErrorKind::wrong_result);
    EXPECT_THAT(said.what(), testing::HasSubstr("GPU 1 to GPU 0: 1 of 5000 bytes"));
    EXPECT_THAT(said.what(), testing::HasSubstr("the first is byte 2500"));
  }
}

TEST(GpuLink, AnEndThatIsWaitedForTooLongIsNamed) {
  const WithStub stub;
  Gpus gpus;
  GpuLink link(gpus[0], gpus[0], {.patience = {.timeout = std::chrono::milliseconds(0)}});
  const Error said = failure([&] { return link.flag(); });
  EXPECT_EQ(said.kind(), ErrorKind::timed_out) << said.what();
  EXPECT_THAT(said.what(), testing::HasSubstr("within GPU 0: the"));
}

TEST(GpuLink, WithoutMemoryForTheCopyIsUnsupported) {
  const WithStub stub;
  Gpus gpus;
  EXPECT_THROW(GpuLink(gpus[0], gpus[0], {.size = {std::int64_t{1} << 40}}), Unsupported);
}

TEST(Gpus, ThatReachEachOtherInPairsAreAskedInPairs) {
  const WithStub stub("no_peer_access@1", 3);
  Gpus gpus;
  EXPECT_THAT(gpus.connect(0, 2), testing::HasSubstr("GPU 0 cannot reach the memory of GPU 2"));
  EXPECT_EQ(gpus.connect(1, 2), "");
}

}  // namespace
}  // namespace collmark
