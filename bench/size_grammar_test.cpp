#include "bench/size_grammar.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "collectives/error.hpp"

namespace collmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::int64_t> sizes(std::string_view text) {
  std::vector<std::int64_t> plain;
  for (const Bytes b : parse_sizes(text)) plain.push_back(b.value);
  return plain;
}

/// The message of the refusal; fails the test if there was none.
template <class Parse>
std::string refusal(Parse parse, std::string_view text) {
  try {
    (void)parse(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    return e.what();
  }
  ADD_FAILURE() << "accepted '" << text << "'";
  return "";
}

/// The column, from 0, of the caret in the last line.
std::size_t caret(const std::string& message) {
  const std::string last = message.substr(message.rfind('\n') + 1);
  EXPECT_EQ(last.back(), '^');
  return last.find('^') - 2;  // two spaces of indentation
}

TEST(SizeGrammar, PlainNumbersAndUnitsArePowersOf1024) {
  EXPECT_THAT(sizes("0"), ElementsAre(0));
  EXPECT_THAT(sizes("8"), ElementsAre(8));
  EXPECT_THAT(sizes("64K,64Ki,1M"), ElementsAre(65536, 1048576));
  EXPECT_THAT(sizes("1KiB,1MiB,1GiB"), ElementsAre(1 << 10, 1 << 20, 1 << 30));
  EXPECT_THAT(sizes("1.5G,0.25K"), ElementsAre(1610612736, 256));
  EXPECT_EQ(parse_size("25M").value, 25 << 20);
  for (const char* const text : {"0", "1", "1023", "1K", "1025", "1536K", "25M", "4G", "2048G"})
    EXPECT_EQ(spelled(parse_size(text)), text);
}

TEST(SizeGrammar, RangesHoldBothEndsWhenTheStepArrivesThere) {
  EXPECT_THAT(sizes("8:64:x2"), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(sizes("8:63:x2"), ElementsAre(8, 16, 32));
  EXPECT_THAT(sizes("1M:4M:+1M"), ElementsAre(1 << 20, 2 << 20, 3 << 20, 4 << 20));
  EXPECT_THAT(sizes("0:20:+8"), ElementsAre(0, 8, 16));
  EXPECT_THAT(sizes("8:8:x2"), ElementsAre(8));
  EXPECT_EQ(sizes("8:1G:x2").size(), 28u);
}

TEST(SizeGrammar, RangeUpToTheLargestNumberEndsThere) {
  EXPECT_EQ(sizes("1:9223372036854775807:x2").back(), std::int64_t{1} << 62);
  EXPECT_THAT(sizes("9223372036854775806:9223372036854775807:+1").size(), 2u);
}

TEST(SizeGrammar, RepeatedValueIsKeptWhereItStandsFirst) {
  EXPECT_THAT(sizes("64,8,64,8:32:x2"), ElementsAre(64, 8, 16, 32));
}

TEST(RankGrammar, RangeWithoutStepIsEveryWholeNumber) {
  EXPECT_THAT(parse_ranks("2:5"), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(parse_ranks("2,4,8"), ElementsAre(2, 4, 8));
  EXPECT_THAT(parse_ranks("2:16:x2"), ElementsAre(2, 4, 8, 16));
  EXPECT_EQ(parse_ranks("2:65536:x2").size(), 16u);
}

struct Refused {
  std::string text;
  std::size_t caret;     // under which character
  std::string expected;  // a part of the message
};

class RefusedSizes : public testing::TestWithParam<Refused> {};

TEST_P(RefusedSizes, AreQuotedWithACaretUnderTheFault) {
  const Refused& r = GetParam();
  const std::string message = refusal(parse_sizes, r.text);
  EXPECT_THAT(message, HasSubstr("'" + r.text + "'"));
  EXPECT_THAT(message, HasSubstr(r.expected));
  EXPECT_THAT(message, HasSubstr("\n  " + r.text + "\n"));
  EXPECT_EQ(caret(message), r.caret) << message;
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedSizes,
    testing::Values(
        Refused{"", 0, "expected a number"}, Refused{"64KB", 3, "expected ','"},
        Refused{"64k", 2, "units are K, M and G"}, Refused{"1T", 1, "units are K, M and G"},
        Refused{"8B", 1, "expected ','"}, Refused{"-8", 0, "expected a number"},
        Refused{"+8", 0, "expected a number"}, Refused{" 8", 0, "expected a number"},
        Refused{"8 ", 1, "expected ','"}, Refused{"1e6", 1, "expected ','"},
        Refused{"0x10", 1, "expected ','"}, Refused{"8,", 2, "expected a number"},
        Refused{",8", 0, "expected a number"}, Refused{"8,,16", 2, "expected a number"},
        Refused{"all", 0, "expected a number"}, Refused{"nan", 0, "expected a number"},
        Refused{"1.5", 0, "whole number"}, Refused{"0.3K", 0, "whole number"},
        Refused{"1.K", 2, "digit after '.'"}, Refused{".5K", 0, "expected a number"},
        Refused{"1.0000000001G", 11, "too many digits"},
        Refused{"9223372036854775808", 0, "too large"}, Refused{"8589934592G", 0, "too large"},
        Refused{"8,99999999999999999999", 2, "too large"}, Refused{"64:8:x2", 3, "not below"},
        Refused{"8:64", 4, "needs a step"}, Refused{"8:", 2, "expected a number"},
        Refused{":64:x2", 0, "expected a number"}, Refused{"8:64:", 5, "such as 'x2'"},
        Refused{"8:64:2", 5, "such as 'x2'"}, Refused{"8:64:*2", 5, "such as 'x2'"},
        Refused{"0:64:x2", 0, "start at 1"}, Refused{"8:64:x0", 6, "at least 2"},
        Refused{"8:64:x1", 6, "at least 2"}, Refused{"8:64:x1.5", 7, "whole number"},
        Refused{"8:64:x", 6, "expected a number"}, Refused{"8:64:x-2", 6, "expected a number"},
        Refused{"8:64:+0", 6, "never arrives"}, Refused{"8:64:+", 6, "expected a number"},
        Refused{"8:64:x2K", 7, "expected ','"}, Refused{"8:64:x2:x2", 7, "expected ','"},
        Refused{"8:64:x2,oops", 8, "expected a number"},
        Refused{"1:1G:+1", 0, "more than 100000"}));

TEST(RankGrammar, RefusesWhatIsNoRankCount) {
  EXPECT_THAT(refusal(parse_ranks, "0"), HasSubstr("the least rank count is 1"));
  EXPECT_THAT(refusal(parse_ranks, "0:4"), HasSubstr("the least rank count is 1"));
  EXPECT_THAT(refusal(parse_ranks, "8:2"), HasSubstr("not below its start"));
  EXPECT_THAT(refusal(parse_ranks, "-2"), HasSubstr("expected a number"));
  EXPECT_THAT(refusal(parse_ranks, "4G"), HasSubstr("the largest rank count is 2147483647"));
  EXPECT_THAT(refusal(parse_ranks, "all"), HasSubstr("expected a number"));
}

constexpr ListKind kOddNumber{.noun = "--knob", .least = 2, .most = 4096, .step_wanted = {}};
constexpr ListKind kStepped{.noun = "--knob", .least = 2, .most = 4096, .step_wanted = "say ':x2'"};

std::vector<int> numbers_or_0(std::string_view text) {
  std::vector<int> numbers;
  for (const auto value : parse_numbers_or_auto(text, kOddNumber))
    numbers.push_back(static_cast<int>(value.value_or(0)));
  return numbers;
}

TEST(NumbersOrAuto, AreListsOfTheOneGrammar_AndAutoAnywhereInThem) {
  EXPECT_EQ(numbers_or_0("auto"), (std::vector{0}));
  EXPECT_EQ(numbers_or_0("auto,8"), (std::vector{0, 8}));
  EXPECT_EQ(numbers_or_0("8,auto,4,8,auto,4:16:x2,1K"), (std::vector{8, 0, 4, 16, 1024}));
  EXPECT_EQ(numbers_or_0("2:5"), (std::vector{2, 3, 4, 5}));
}

TEST(NumbersOrAuto, RefuseWhatIsNone_WithTheirNameAndACaretUnderTheFault) {
  const auto refused = [](const ListKind& kind) {
    return [&kind](std::string_view text) { (void)parse_numbers_or_auto(text, kind); };
  };
  const auto none = refused(kOddNumber);
  EXPECT_THAT(refusal(none, "1"), HasSubstr("cannot read --knob '1': the least --knob is 2"));
  EXPECT_THAT(refusal(none, "8,5K"), HasSubstr("the largest --knob is 4096"));
  EXPECT_THAT(refusal(none, "8:4"), HasSubstr("not below its start"));
  EXPECT_THAT(refusal(none, "auto,x"), HasSubstr("expected a number"));
  EXPECT_EQ(caret(refusal(none, "auto,x")), 5u);
  EXPECT_EQ(caret(refusal(none, "autos")), 4u);
  EXPECT_EQ(caret(refusal(none, "8,,4")), 2u);
  EXPECT_EQ(caret(refusal(none, "8,auto,")), 7u);
  EXPECT_EQ(caret(refusal(none, "auto:8")), 4u);
  EXPECT_THAT(refusal(none, ""), HasSubstr("expected a number"));
  EXPECT_THAT(refusal(refused(kStepped), "4:16"), HasSubstr("say ':x2'"));
}

TEST(SizeGrammar, SingleSizeRefusesLists) {
  EXPECT_EQ(caret(refusal(parse_size, "8,16")), 1u);
  EXPECT_EQ(caret(refusal(parse_size, "8:16:x2")), 1u);
}

}  // namespace
}  // namespace collmark
