#include "bench/in_range.hpp"

#include <gtest/gtest.h>

#include <string>

namespace collmark {
namespace {

std::string complaint(std::string text) { return in_range(0.5, 20)(text); }

TEST(InRange, NumbersUpToBothEndsPass) {
  for (const char* text : {"0.5", "1", "2e1", "20"}) EXPECT_EQ(complaint(text), "") << text;
}

TEST(InRange, WhatIsNoNumberOrOutsideIsQuoted) {
  for (const char* text : {"nan", "inf", "-1", "0.49", "20.1", "", "x", "1x", "1 ", "1e999"})
    EXPECT_EQ(complaint(text), "'" + std::string(text) + "' is no number from 0.5 to 20");
}

TEST(WholeInRange, WhatIsNotWrittenAsAWholeNumberIsQuoted) {
  for (const char* text : {"0", "7", "20"}) {
    std::string word = text;
    EXPECT_EQ(whole_in_range(0, 20)(word), "") << text;
  }
  for (const char* text : {"1e1", "2.0", "-1", "21", "", "x", "7 ", "99999999999"}) {
    std::string word = text;
    EXPECT_EQ(whole_in_range(0, 20)(word),
              "'" + std::string(text) + "' is no whole number from 0 to 20");
  }
}

}  // namespace
}  // namespace collmark
