#include "bench/nccl_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/error.hpp"

namespace collmark {
namespace {

std::string refusal(std::string_view text) {
  try {
    (void)parse_nccl_name(text);
  } catch (const Error& e) {
    return e.kind() == ErrorKind::usage ? e.what() : "another kind";
  }
  return "";
}

TEST(NcclName, AloneLeavesEverythingToNccl) {
  const NcclName name = parse_nccl_name("library");
  EXPECT_FALSE(name.choice.is_forced());
  EXPECT_EQ(name.buffers, NcclBuffers::plain);
  EXPECT_FALSE(name.replayed);
}

TEST(NcclName, AlgorithmProtocolAndVariantsAreTakenApart) {
  const NcclName name = parse_nccl_name("library:nvls_tree/simple/graph/registered");
  EXPECT_EQ(name.choice.algorithm, "NVLSTree");
  EXPECT_EQ(name.choice.protocol, "Simple");
  EXPECT_EQ(name.buffers, NcclBuffers::registered);
  EXPECT_TRUE(name.replayed);
  EXPECT_EQ(parse_nccl_name("library/LL128").choice.protocol, "LL128");
  EXPECT_EQ(parse_nccl_name("library/LL128").choice.algorithm, "");
}

TEST(NcclName, WhatNcclDoesNotHaveIsRefusedWithASuggestion) {
  EXPECT_THAT(refusal("library:rnig"), testing::HasSubstr("did you mean 'ring'?"));
  EXPECT_THAT(refusal("library:ring/grahp"), testing::HasSubstr("did you mean 'graph'?"));
  for (const char* text : {"library:", "library/", "library:ring/", "library:ring:64K"})
    EXPECT_NE(refusal(text), "") << text;
}

TEST(NcclName, EveryAlgorithmThatIsListedIsAName) {
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather,
        Collective::broadcast, Collective::reduce, Collective::all_to_all, Collective::barrier})
    for (const std::string& name : nccl_algorithms(collective))
      EXPECT_EQ(usual_nccl_name(parse_nccl_name("library:" + name).choice.algorithm), name);
}

TEST(NcclName, NcclsSpellingIsUnderstoodInAnyCase) {
  EXPECT_EQ(usual_nccl_name("COLLNETDIRECT"), "collnet_direct");
  EXPECT_EQ(usual_nccl_name("ll128"), "LL128");
  EXPECT_EQ(usual_nccl_name("SomethingNew"), "SomethingNew");
}

}  // namespace
}  // namespace collmark
