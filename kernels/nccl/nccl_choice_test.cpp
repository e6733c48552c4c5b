#include "kernels/nccl/nccl_choice.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/stub_nccl/with_stub_nccl.hpp"

namespace collmark {
namespace {

std::string value(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "not set" : text;
}

TEST(Environment, IsAsItWasAfterwards) {
  setenv("COLLMARK_TEST_A", "before", 1);
  unsetenv("COLLMARK_TEST_B");
  {
    Environment environment;
    environment.set("COLLMARK_TEST_A", "1");
    environment.set("COLLMARK_TEST_A", "2");
    environment.set("COLLMARK_TEST_B", "3");
    EXPECT_EQ(value("COLLMARK_TEST_A") + value("COLLMARK_TEST_B"), "23");
  }
  EXPECT_EQ(value("COLLMARK_TEST_A"), "before");
  EXPECT_EQ(value("COLLMARK_TEST_B"), "not set");
}

TEST(ForcedChoice, NamesTheFunctionSince2_24Only) {
  EXPECT_EQ(ForcedChoice::setting(22400, Collective::all_reduce, "Ring"), "allreduce:Ring");
  EXPECT_EQ(ForcedChoice::setting(22809, Collective::reduce_scatter, "LL"), "reducescatter:LL");
  EXPECT_EQ(ForcedChoice::setting(22304, Collective::all_reduce, "Ring"), "Ring");
}

TEST(ForcedChoice, SetsWhatIsAskedForAndLeavesTheRestToTheUser) {
  const WithStubNccl stub;
  const Nccl nccl;
  setenv("NCCL_PROTO", "LL", 1);
  {
    const ForcedChoice forced(nccl, Collective::broadcast, {.algorithm = "Ring"});
    EXPECT_EQ(value("NCCL_ALGO"), "broadcast:Ring");
    EXPECT_EQ(value("NCCL_PROTO"), "LL");
  }
  EXPECT_EQ(value("NCCL_ALGO"), "not set");
  unsetenv("NCCL_PROTO");
}

TEST(TuningLog, TheLatestOperationOfALogCounts) {
  const auto ran = TuningLog::parse(
      "host:1:1 [0] NCCL INFO AllReduce: 4 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..0}\n"
      "host:1:1 [0] NCCL INFO AllReduce: 99 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={4..7}\n"
      "host:1:1 [0] NCCL INFO something else\n");
  ASSERT_TRUE(ran.has_value());
  EXPECT_EQ(ran->algorithm, "ring");
  EXPECT_EQ(ran->protocol, "ll128");
  EXPECT_EQ(ran->channels, 4);
}

TEST(TuningLog, OfOlderLibrariesSaysNothing) {
  EXPECT_FALSE(TuningLog::parse("").has_value());
  EXPECT_FALSE(TuningLog::parse("4096 Bytes -> Algo 1 proto 2 time 7.0").has_value());
}

TEST(TuningLog, ThatTheUserHasAskedForIsLeftToThem) {
  const WithStubNccl stub;
  const Nccl nccl;
  setenv("NCCL_DEBUG", "WARN", 1);
  {
    const TuningLog log(nccl);
    EXPECT_EQ(value("NCCL_DEBUG"), "WARN");
    EXPECT_FALSE(log.ran().has_value());
  }
  unsetenv("NCCL_DEBUG");
  const TuningLog log(nccl);
  EXPECT_EQ(value("NCCL_DEBUG"), "INFO");
}

}  // namespace
}  // namespace collmark
