#include "bench/library_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/error.hpp"

namespace collmark {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const std::vector<LibraryAlgorithm> kTwo{
    {.name = "linear", .theirs = "basic_linear", .number = 1},
    {.name = "pipeline", .theirs = "pipeline", .number = 3, .segments = true}};

const LibraryAlgorithm& chosen(std::string_view text) {
  return choose_library_algorithm(Collective::reduce, parse_library_name(text), kTwo);
}

TEST(LibraryName, IsLibraryAloneOrWithAColon) {
  EXPECT_TRUE(is_library("library"));
  EXPECT_TRUE(is_library("library:ring"));
  EXPECT_FALSE(is_library("library_ring"));
  EXPECT_FALSE(is_library("ring"));
}

TEST(LibraryName, HoldsAnAlgorithmAndASegment) {
  EXPECT_EQ(parse_library_name("library").algorithm, "");
  const LibraryName name = parse_library_name("library:pipeline:64K");
  EXPECT_EQ(name.algorithm, "pipeline");
  EXPECT_EQ(name.segment.value, 65536);
  EXPECT_EQ(name.parameter, ":64K");
  for (const char* text : {"library:", "library::64K", "library:pipeline:", "library:pipeline:0",
                           "library:pipeline:64KB", "library:pipeline:2G"})
    EXPECT_THROW((void)parse_library_name(text), Error) << text;
}

TEST(LibraryName, EitherNameOfAnAlgorithmFindsIt) {
  EXPECT_EQ(chosen("library:linear").number, 1);
  EXPECT_EQ(chosen("library:basic_linear").number, 1);
  EXPECT_EQ(chosen("library:pipeline:64K").number, 3);
}

TEST(LibraryName, ASlipIsRefusedWithTheNearestNameAndTheList) {
  EXPECT_THAT([] { (void)chosen("library:linaer"); },
              ThrowsMessage<Error>(HasSubstr("did you mean 'linear'?); it has linear, pipeline")));
  EXPECT_THAT([] { (void)chosen("library:linear:64K"); },
              ThrowsMessage<Error>(HasSubstr("takes no segment")));
}

}  // namespace
}  // namespace collmark
