#include "bench/choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace collmark {
namespace {

TEST(Choice, KnownWord_IsItsEnumerator) {
  EXPECT_EQ(choose("--dtype", "bf16", kDtypes), Dtype::bf16);
}

TEST(Choice, UnknownWord_IsRefusedWithASuggestionAndNeverBecomesADefault) {
  try {
    (void)choose("--dtype", "f23", kDtypes);
    FAIL() << "accepted an unknown dtype";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    EXPECT_THAT(e.what(), testing::HasSubstr("--dtype: unknown value 'f23' (did you mean 'f32'?)"));
  }
}

TEST(Choice, ListsAreSplitAtCommasAndHoldNoEmptyWord) {
  EXPECT_THAT(split_list("--dtype", "f32,bf16"), testing::ElementsAre("f32", "bf16"));
  for (const char* bad : {"", ",f32", "f32,", "f32,,f16"})
    EXPECT_THROW((void)split_list("--dtype", bad), Error) << bad;
}

}  // namespace
}  // namespace collmark
