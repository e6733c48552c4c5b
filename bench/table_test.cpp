#include "bench/table.hpp"

#include <gtest/gtest.h>

namespace collmark {
namespace {

TEST(Table, NumbersStandRightWordsLeftUnitsBelowNames) {
  const Table table(
      {{.name = "algorithm", .align = Align::left}, {.name = "time", .unit = "us", .width = 7}});
  EXPECT_EQ(table.header(),
            "algorithm     time\n"
            "                us\n");
  EXPECT_EQ(table.row({"ring", "12.3"}), "ring          12.3\n");
  EXPECT_EQ(table.row({"double_binary_tree", "1"}), "double_binary_tree        1\n");
}

TEST(Table, WithoutUnitsThereIsOneHeaderLine) {
  EXPECT_EQ(fitted({{.name = "n"}, {.name = "name", .align = Align::left}}, {{"10", "a"}, {"2"}}),
            " n  name\n10  a\n 2\n");
}

TEST(Readable, BytesHaveThreeDigitsAndSmallCountsAreExact) {
  EXPECT_EQ(readable(Bytes{0}), "0 B");
  EXPECT_EQ(readable(Bytes{1003}), "1003 B");
  EXPECT_EQ(readable(Bytes{64 << 10}), "64 KiB");
  EXPECT_EQ(readable(Bytes{1610612736}), "1.5 GiB");
  EXPECT_EQ(readable(Bytes{102228128}), "97.5 MiB");
}

TEST(Readable, TimesTakeTheUnitThatKeepsThemShort) {
  EXPECT_EQ(readable(Seconds{0}), "0 s");
  EXPECT_EQ(readable(Seconds{940e-9}), "940 ns");
  EXPECT_EQ(readable(Seconds{12.34e-6}), "12.3 us");
  EXPECT_EQ(readable(Seconds{999.9e-6}), "1 ms");
  EXPECT_EQ(readable(Seconds{1.5e-3}), "1.5 ms");
  EXPECT_EQ(readable(Seconds{90}), "90 s");
}

TEST(Readable, WaitsAreSaidInMinutesAndHours) {
  EXPECT_EQ(readable_wait(Seconds{11.2}), "12 s");
  EXPECT_EQ(readable_wait(Seconds{200}), "3 min 20 s");
  EXPECT_EQ(readable_wait(Seconds{3905}), "1 h 05 min");
}

TEST(Readable, RoundedKeepsSignificantDigitsWithoutAnExponent) {
  EXPECT_EQ(rounded(12345.6), "12346");
  EXPECT_EQ(rounded(0.0012345), "0.00123");
  EXPECT_EQ(rounded(1.0), "1");
  EXPECT_EQ(rounded(0.0), "0");
}

TEST(Readable, GroupedSetsACommaEveryThreeDigits) {
  EXPECT_EQ(grouped(102228128), "102,228,128");
  EXPECT_EQ(grouped(-1234), "-1,234");
  EXPECT_EQ(grouped(-123), "-123");
  EXPECT_EQ(grouped(999), "999");
}

}  // namespace
}  // namespace collmark
