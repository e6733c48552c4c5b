#include "kernels/nccl/nccl.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/error.hpp"
#include "kernels/stub_nccl/with_stub_nccl.hpp"

namespace collmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// What opening the library says, and of which kind it is.
struct Refusal {
  ErrorKind kind = ErrorKind::broken;
  std::string what;
};
Refusal refusal(const std::string& path) {
  try {
    const Nccl nccl(path);
  } catch (const Error& e) {
    return {e.kind(), e.what()};
  }
  return {};
}

TEST(Nccl, ThatIsNotThereIsAbsentAndSaysHowToNameIt) {
  const Refusal said = refusal("/no/such/libnccl.so.2");
  EXPECT_EQ(said.kind, ErrorKind::absent);
  EXPECT_THAT(said.what, AllOf(HasSubstr("/no/such/libnccl.so.2"), HasSubstr("COLLMARK_NCCL"),
                               Not(HasSubstr("\n"))));
}

TEST(Nccl, ThatIsAnotherLibraryIsAbsentAndNamesAFunctionThatIsMissing) {
  const Refusal said = refusal("libm.so.6");
  EXPECT_EQ(said.kind, ErrorKind::absent);
  EXPECT_THAT(said.what, HasSubstr("ncclGetVersion"));
}

TEST(Nccl, ThatIsTooOldIsAbsentAndNamesBothVersions) {
  const WithStubNccl stub("old");
  try {
    const Nccl nccl;
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::absent);
    EXPECT_THAT(e.what(), AllOf(HasSubstr("2.17.1"), HasSubstr("2.18.0")));
  }
}

TEST(Nccl, OfTheStubSaysThatItIsNone) {
  const WithStubNccl stub;
  const Nccl nccl;
  EXPECT_EQ(nccl.version(), 22809);
  EXPECT_EQ(nccl.name(), "collmark stub of NCCL (CPU, no GPU)");
  EXPECT_TRUE(nccl.registers());
}

TEST(Nccl, ErrorsAreLostAndHaveItsWords) {
  const WithStubNccl stub;
  const Nccl nccl;
  nccl.check(nccl::Result::success, nullptr, "nothing");
  try {
    nccl.check(nccl::Result::system_error, nullptr, "making something");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::lost);
    EXPECT_STREQ(e.what(), "NCCL, making something: unhandled system error");
  }
}

TEST(Nccl, VersionsAreWrittenAsItsHeaderDefinesTheirNumbers) {
  EXPECT_EQ(nccl_version(22809), "2.28.9");
  EXPECT_EQ(nccl_version(21800), "2.18.0");
  EXPECT_EQ(nccl_version(2804), "2.8.4");
}

}  // namespace
}  // namespace collmark
