#include "bench/variant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "collectives/error.hpp"

namespace collmark {
namespace {

TEST(Variant, IsWhatFollowsTheSlash_AndIsPutBackThere) {
  for (const std::string text : {"ring/window", "double_binary_tree:16/window", "all/window",
                                 "file:some/folder/mine.json/window"}) {
    const AlgorithmVariant v = split_variant(text);
    EXPECT_EQ(v.variant, Variant::window) << text;
    EXPECT_EQ(v.algorithm + "/window", text);
    EXPECT_EQ(joined(v.algorithm, v.variant), text);
  }
}

TEST(Variant, IsWhatFollowsTheName_WhereItIsInterpreted) {
  for (const auto& [text, algorithm] :
       {std::pair("ring_interpreted", "ring"), std::pair("all_interpreted", "all"),
        std::pair("double_binary_tree_interpreted:3", "double_binary_tree:3")}) {
    EXPECT_EQ(split_variant(text).variant, Variant::interpreted) << text;
    EXPECT_EQ(split_variant(text).algorithm, algorithm);
    EXPECT_EQ(joined(algorithm, Variant::interpreted), text);
  }
}

TEST(Variant, OfKernels_IsAProtocolBehindTheSlash) {
  EXPECT_EQ(split_variant("one_shot/LL").variant, Variant::low_latency);
  EXPECT_EQ(split_variant("parameter_server/links").variant, Variant::links);
  EXPECT_EQ(joined("one_shot", Variant::low_latency), "one_shot/LL");
  EXPECT_EQ(split_variant("ring/simple/graph").variant, Variant::simple);
  EXPECT_EQ(joined("ring", Variant::simple), "ring/simple");
}

TEST(Variant, OfALaunch_ComesLast) {
  for (const auto& [text, algorithm, variant] :
       {std::tuple("ring/graph", "ring", Variant::plain),
        std::tuple("one_shot/LL/graph", "one_shot", Variant::low_latency),
        std::tuple("ring_interpreted/graph", "ring", Variant::interpreted)}) {
    const AlgorithmVariant v = split_variant(text);
    EXPECT_EQ(v.launching, Launching::graph) << text;
    EXPECT_EQ(v.algorithm, algorithm);
    EXPECT_EQ(v.variant, variant);
    EXPECT_EQ(joined(v.algorithm, v.variant, v.launching), text);
  }
  EXPECT_EQ(split_variant("ring").launching, Launching::each);
}

TEST(Variant, IsPlain_WithoutASlash_InAPath_AndInALibrarysName) {
  for (const std::string text : {"ring", "hierarchical_ring:2x4", "file:some/folder/mine.json",
                                 "library:ring/LL", "library:tree/simple", "library/graph"}) {
    EXPECT_EQ(split_variant(text).variant, Variant::plain) << text;
    EXPECT_EQ(split_variant(text).algorithm, text);
    EXPECT_EQ(joined(text, Variant::plain), text);
  }
}

TEST(Variant, ThatNobodyKnows_IsRefusedWithTheOneThereIs) {
  try {
    (void)split_variant("ring/windows");
    FAIL() << "taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    EXPECT_THAT(e.what(), testing::HasSubstr("no variant is called 'windows' (did you mean"));
  }
}

}  // namespace
}  // namespace collmark
