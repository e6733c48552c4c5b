#include "collectives/model_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "collectives/error.hpp"

namespace collmark {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(std::string_view text) {
  try {
    (void)parse_model_list(text, "list.csv");
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    return e.what();
  }
  return "accepted";
}

std::string load_refusal(std::string_view name_or_path) {
  try {
    (void)load_model(name_or_path);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    return e.what();
  }
  return "accepted";
}

// Parameter counts as published with the networks; sources in collectives/models/README.md.
TEST(ModelList, BuiltInLists_HaveThePublishedParameterCounts) {
  const std::map<std::string, std::int64_t, std::less<>> expected{
      {"bert-base", 109'482'240},
      {"bert-large", 335'141'888},
      {"dlrm-mlperf-dense", 2'368'897},
      {"gpt2", 124'439'808},
      {"gpt2-xl", 1'557'611'200},
      {"llama-7b", 6'738'415'616},
      {"llama3-8b", 8'030'261'248},
      {"resnet18", 11'689'512},
      {"resnet50", 25'557'032},
      {"roberta-base", 124'645'632},
      {"roberta-base-cls2", 124'647'170},
      {"vgg16", 138'357'544},
      {"vit-b16", 86'567'656}};
  EXPECT_EQ(built_in_models().size(), expected.size());
  for (const auto& [model, parameters] : expected)
    EXPECT_EQ(bytes_of(load_model(model).tensors), Bytes{4 * parameters}) << model;
}

TEST(ModelList, ResNet50_Is161TensorsAnd102228128Bytes) {
  const ModelList resnet50 = load_model("resnet50");
  EXPECT_EQ(resnet50.tensors.size(), 161U);
  EXPECT_EQ(bytes_of(resnet50.tensors), Bytes{102'228'128});
  EXPECT_EQ(resnet50.tensors.front().name, "conv1.weight");
  EXPECT_EQ(resnet50.tensors.back().name, "fc.bias");
}

TEST(ModelList, WindowsLineEndsAndAMissingLastOneAreAccepted) {
  const auto list =
      parse_model_list("\xEF\xBB\xBFname,shape,numel\r\na,2x3,6\r\nb,4,4", "list.csv");
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].name, "a");
  EXPECT_EQ(list[1].count, Elements{4});
}

TEST(ModelList, ADtypeColumn_OverridesTheDefault) {
  const auto list =
      parse_model_list("name,shape,numel,dtype\na,2,2,bf16\nb,4,4,f32\n", "list.csv", Dtype::f16);
  EXPECT_EQ(list[0].dtype, Dtype::bf16);
  EXPECT_EQ(list[1].dtype, Dtype::f32);
  EXPECT_EQ(bytes_of(list), Bytes{2 * 2 + 4 * 4});
  EXPECT_EQ(parse_model_list("name,shape,numel\na,2,2\n", "list.csv", Dtype::f16)[0].dtype,
            Dtype::f16);
}

TEST(ModelList, BadLists_AreRefusedWithTheLineAndWhatWasExpected) {
  const std::string head = "name,shape,numel\n";
  EXPECT_THAT(refusal(""), StartsWith("list.csv:1: expected the header name,shape,numel"));
  EXPECT_THAT(refusal("name,numel\na,2\n"), StartsWith("list.csv:1: expected the header"));
  EXPECT_THAT(refusal(head), StartsWith("list.csv:2: the list ends after its header"));
  EXPECT_THAT(refusal(head + "a,2x3"), StartsWith("list.csv:2: expected 3 fields"));
  EXPECT_THAT(refusal(head + "a,2,2\n\nb,2,2\n"), StartsWith("list.csv:3: expected 3 fields"));
  EXPECT_THAT(refusal(head + "a,2,2,f32\n"), HasSubstr("got 4"));
  EXPECT_THAT(refusal(head + ",2,2\n"), HasSubstr("expected a tensor name"));
  EXPECT_THAT(refusal(head + "a,2x3,7\n"), HasSubstr("numel 7 is not the product of shape 2x3, 6"));
  for (const char* number : {"0", "-6", "6.0", "six", "", " 6", "99999999999999999999"})
    EXPECT_THAT(refusal(head + "a,2x3," + number + "\n"), HasSubstr("positive whole number"))
        << number;
  for (const char* shape : {"2x", "x3", "2xx3", "2*3", "0x6", "-2x-3", ""})
    EXPECT_THAT(refusal(head + "a," + shape + ",6\n"), HasSubstr("joined by x")) << shape;
  EXPECT_THAT(refusal(head + "a,1048576x1048577,1099512676352\n"), HasSubstr("2^40"));
  EXPECT_THAT(refusal(head + "a,2,2\nb,2,2\na,2,2\n"),
              StartsWith("list.csv:4: tensor 'a' is already on line 2"));
  for (const char* dtype : {"float", "i32", "u8", ""})
    EXPECT_THAT(refusal(std::string("name,shape,numel,dtype\na,2,2,") + dtype + "\n"),
                HasSubstr("expected f32, f64, f16 or bf16"))
        << dtype;
}

TEST(ModelList, WhatIsNoText_OrTooMuch_IsRefusedInOneShortLine) {
  const std::string head = "name,shape,numel\n";
  EXPECT_THAT(refusal(head + std::string("a\0b,2,2\n", 9)),
              StartsWith("list.csv:2: control character 0x00 in column 2"));
  EXPECT_THAT(refusal("\x1b[31m\n"), StartsWith("list.csv:1: control character 0x1B in column 1"));
  EXPECT_LT(refusal(head + std::string(100'000, 'a')).size(), 200U);
  EXPECT_LT(refusal(head + "a,2x" + std::string(100'000, '9') + ",6\n").size(), 200U);
  std::string rows = head;
  for (const char* name : {"a", "b", "c", "d"})
    rows += std::string(name) + ",1048576x1048576,1099511627776\n";
  EXPECT_EQ(refusal(rows), "accepted");
  EXPECT_THAT(refusal(rows + "e,1,1\n"), StartsWith("list.csv:6: the list has more than 2^42"));
}

TEST(ModelList, UnknownNamesAndUnreadableFiles_SayWhatWouldBeRight) {
  EXPECT_THAT(load_refusal("resnet5O"), HasSubstr("did you mean 'resnet50'?"));
  EXPECT_THAT(load_refusal("no/such.csv"), HasSubstr("no/such.csv: cannot be read: No such file"));
  EXPECT_THAT(load_refusal("/"), HasSubstr("is a directory"));
}

}  // namespace
}  // namespace collmark
