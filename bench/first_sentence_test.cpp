#include "bench/first_sentence.hpp"

#include <gtest/gtest.h>

namespace collmark {
namespace {

TEST(FirstSentence, GoesOnInTheNextLine) {
  EXPECT_EQ(
      first_sentence("-----\nA request was made to bind to that would result in binding more\n"
                     "processes than cpus on a resource:\n\n   Bind to:     CORE\n"),
      "A request was made to bind to that would result in binding more processes than cpus on "
      "a resource");
}

TEST(FirstSentence, EndsWhereTheNextBegins) {
  EXPECT_EQ(
      first_sentence("It looks like orte_init failed for some reason; your parallel process is\n"
                     "likely to abort.  There are many reasons that a parallel process can\n"),
      "It looks like orte_init failed for some reason; your parallel process is likely to abort.");
  EXPECT_EQ(first_sentence("Version 4.1.4 of it.\nmore"), "Version 4.1.4 of it.");
}

TEST(FirstSentence, EndsWithAShortLineBeforeACapital) {
  EXPECT_EQ(first_sentence("no slots left\nOther words"), "no slots left");
  EXPECT_EQ(first_sentence("no slots left\n\nother words"), "no slots left");
}

TEST(FirstSentence, GoesOnWithANameBehindALongLine) {
  EXPECT_EQ(first_sentence("The library could not be opened, since it was not built with the same\n"
                           "Open MPI.\n"),
            "The library could not be opened, since it was not built with the same Open MPI.");
}

TEST(FirstSentence, OfNoWordsIsEmpty) {
  EXPECT_EQ(first_sentence(""), "");
  EXPECT_EQ(first_sentence("----\n\n 12\n"), "");
}

}  // namespace
}  // namespace collmark
