#include "kernels/driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "collectives/catalogue.hpp"
#include "kernels/gpu.hpp"
#include "kernels/image.hpp"
#include "kernels/with_stub.hpp"

namespace collmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// What opening all GPUs says, and of which kind it is.
struct Refusal {
  ErrorKind kind = ErrorKind::broken;
  std::string what;
};
Refusal refusal() {
  try {
    const Gpus gpus;
  } catch (const Error& e) {
    return {e.kind(), e.what()};
  }
  return {};
}

class RefusedDriver : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(RefusedDriver, IsAbsentAndSaysWhyAndWhatWouldHelpInOneLine) {
  const auto& [fault, words] = GetParam();
  const WithStub stub(fault);
  if (fault == "old_driver" && kernel_image_version() == 0)
    GTEST_SKIP() << "built without nvcc: no driver is too old";
  const Refusal said = refusal();
  EXPECT_EQ(said.kind, ErrorKind::absent) << said.what;
  EXPECT_THAT(said.what, AllOf(HasSubstr(words), Not(HasSubstr("\n"))));
}

INSTANTIATE_TEST_SUITE_P(All, RefusedDriver,
                         testing::Values(std::pair("no_device", "nvidia-smi"),
                                         std::pair("old_driver", "CUDA 11.4"),
                                         std::pair("no_code", "sm_90")),
                         [](const auto& test) { return std::string(test.param.first); });

TEST(Driver, SaysOfWhatCannotRunHereWhatWouldHelp) {
  const WithStub stub;
  const Driver driver;
  for (const auto& [status, help] :
       {std::pair{cu::Status::compatibility_not_supported, "LD_LIBRARY_PATH"},
        {cu::Status::mps_connection_failed, "nvidia-cuda-mps-control"},
        {cu::Status::mps_server_not_ready, "nvidia-cuda-mps-control"}}) {
    try {
      driver.check(status, "trying");
      FAIL() << help;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::absent);
      EXPECT_THAT(e.what(), AllOf(HasSubstr("trying: "), HasSubstr(help)));
    }
  }
}

TEST(Driver, WhatItDoesNotDoIsTheCasesOwnMisfortune) {
  const WithStub stub;
  const Driver driver;
  EXPECT_THROW(driver.check(cu::Status::capture_invalidated, "capturing"), Unsupported);
  EXPECT_THROW(driver.check(cu::Status::not_supported, "asking"), Unsupported);
}

/// All after which CUDA's documentation says that the context can be used no more.
TEST(Driver, ADeviceThatIsOfNoMoreUseIsLost) {
  const WithStub stub;
  const Driver driver;
  for (const int status :
       {214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 810, 999}) {
    try {
      driver.check(static_cast<cu::Status>(status), "running kernels");
      FAIL() << status;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::lost) << e.what();
    }
  }
}

TEST(Driver, ThatBlocksAtEveryLaunchIsRefused) {
  const WithStub stub;
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  const Refusal said = refusal();
  setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
  EXPECT_NO_THROW(const Driver driver);
  unsetenv("CUDA_LAUNCH_BLOCKING");
  EXPECT_EQ(said.kind, ErrorKind::absent) << said.what;
  EXPECT_THAT(said.what, HasSubstr("CUDA_LAUNCH_BLOCKING=1"));
}

TEST(Driver, ThatIsNotThereIsAbsent) {
  try {
    const Driver driver("/no/such/libcuda.so.1");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::absent);
    EXPECT_THAT(e.what(), HasSubstr("no CUDA driver: /no/such/libcuda.so.1"));
  }
}

TEST(Driver, ThatLacksAFunctionIsAbsent) {
  try {
    const Driver driver("libm.so.6");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::absent);
    EXPECT_THAT(e.what(), HasSubstr("cuInit"));
  }
}

}  // namespace
}  // namespace collmark
