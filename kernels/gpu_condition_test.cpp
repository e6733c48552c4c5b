#include "kernels/gpu_condition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace collmark {
namespace {

/// While this lives, the stub is the management library, with a fault.
class WithStubNvml {
 public:
  explicit WithStubNvml(const char* fault = "") {
    setenv("COLLMARK_NVML", COLLMARK_STUB_NVML, 1);
    setenv("COLLMARK_STUB_NVML_FAULT", fault, 1);
  }
  ~WithStubNvml() {
    unsetenv("COLLMARK_NVML");
    unsetenv("COLLMARK_STUB_NVML_FAULT");
  }
  WithStubNvml(const WithStubNvml&) = delete;
  WithStubNvml& operator=(const WithStubNvml&) = delete;
};

TEST(GpuMonitor, TellsOfTheGpuAtAnAddress) {
  const WithStubNvml stub;
  const GpuMonitor monitor;
  EXPECT_EQ(monitor.obstacle(), "");
  const GpuCondition now = monitor.look("ffff:00:00.0");
  EXPECT_EQ(now.sm_mhz, 7);
  EXPECT_EQ(now.memory_mhz, 11);
  EXPECT_EQ(now.watts, 1.5);
  EXPECT_EQ(now.celsius, 3);
  EXPECT_EQ(now.held_back, 1u);
}

TEST(GpuMonitor, KnowsNothingOfAGpuThatIsNotThere) {
  const WithStubNvml stub;
  EXPECT_EQ(GpuMonitor().look("0000:17:00.0"), GpuCondition());
}

TEST(GpuMonitor, LeavesOutWhatTheLibraryDoesNotTell) {
  const WithStubNvml stub("no_power");
  const GpuCondition now = GpuMonitor().look("ffff:00:00.0");
  EXPECT_FALSE(now.watts.has_value());
  EXPECT_EQ(now.sm_mhz, 7);
}

TEST(GpuMonitor, WithoutALibraryItSaysSoAndKnowsNothing) {
  setenv("COLLMARK_NVML", "/no/such/library.so", 1);
  const GpuMonitor absent;
  unsetenv("COLLMARK_NVML");
  EXPECT_THAT(absent.obstacle(), testing::HasSubstr("no NVML: /no/such/library.so"));
  EXPECT_EQ(absent.look("ffff:00:00.0"), GpuCondition());
  const WithStubNvml stub("no_start");
  const GpuMonitor broken;
  EXPECT_THAT(broken.obstacle(), testing::HasSubstr("does not start: error 6"));
  EXPECT_EQ(broken.look("ffff:00:00.0"), GpuCondition());
}

TEST(GpuMonitor, ALibraryThatIsAnotherIsRefused) {
  setenv("COLLMARK_NVML", "libm.so.6", 1);
  const GpuMonitor other;
  unsetenv("COLLMARK_NVML");
  EXPECT_THAT(other.obstacle(), testing::HasSubstr("NVML has no nvmlInit_v2"));
}

TEST(GpuCondition, OfSeveralGpusTheSlowestClockAndTheMostHeatCount) {
  const GpuCondition a{.sm_mhz = 10, .memory_mhz = 5, .watts = 2.0, .celsius = 40, .held_back = 1};
  const GpuCondition b{.sm_mhz = 9, .memory_mhz = 6, .watts = 3.0, .held_back = 4};
  const GpuCondition both{
      .sm_mhz = 9, .memory_mhz = 5, .watts = 3.0, .celsius = 40, .held_back = 5};
  EXPECT_EQ(worst(a, b), both);
  EXPECT_EQ(worst(b, a), both);
  EXPECT_EQ(worst(a, {}), a);
}

TEST(GpuCondition, AnIdleGpuAndClocksThatSomebodyHasSetAreNoThrottling) {
  EXPECT_EQ(throttling(0), "no");
  EXPECT_EQ(throttling(0x1 | 0x2 | 0x100), "no");
  EXPECT_EQ(throttling(0x1 | 0x4 | 0x40), "sw_power_cap+hw_thermal_slowdown");
  EXPECT_EQ(throttling(0x8 | 0x10 | 0x20 | 0x80),
            "hw_slowdown+sync_boost+sw_thermal_slowdown+hw_power_brake_slowdown");
}

}  // namespace
}  // namespace collmark
