#include "bench/child_process.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "collectives/error.hpp"

namespace collmark {
namespace {

using namespace std::chrono_literals;

ChildCommand shell(const std::string& script) {
  return {.words = {"/bin/sh", "-c", script}, .environment = {}};
}

std::string line_of(ChildProcess& child, ChildProcess::From from) {
  while (const auto line = child.next_line(10s))
    if (line->from == from) return line->text;
  return "(nothing)";
}

TEST(ChildProcess, WhatIsWrittenToItComesBack) {
  ChildProcess child(shell("read word; echo \"out $word\"; echo err >&2"));
  child.write_line("hello");
  EXPECT_EQ(line_of(child, ChildProcess::From::out), "out hello");
  EXPECT_EQ(line_of(child, ChildProcess::From::err), "err");
  EXPECT_TRUE(child.ended_within(10s));
  EXPECT_EQ(child.ending(), "exit code 0");
  EXPECT_FALSE(
      child.next_line(10s));  // the ends of its streams may be read later than its exit code
  EXPECT_TRUE(child.silent());
}

TEST(ChildProcess, ALastLineWithoutItsEndIsALine) {
  ChildProcess child(shell("printf 'no end'"));
  EXPECT_EQ(line_of(child, ChildProcess::From::out), "no end");
}

TEST(ChildProcess, LongLinesComeWhole) {
  ChildProcess child(shell("head -c 300000 /dev/zero | tr '\\0' x; echo; echo after"));
  EXPECT_EQ(line_of(child, ChildProcess::From::out).size(), 300000u);
  EXPECT_EQ(line_of(child, ChildProcess::From::out), "after");
}

TEST(ChildProcess, ItsEnvironmentIsOursWithTheChanges) {
  setenv("COLLMARK_TEST_KEPT", "kept", 1);
  ChildProcess child({.words = {"/bin/sh", "-c", "echo $COLLMARK_TEST_KEPT $COLLMARK_TEST_NEW"},
                      .environment = {"COLLMARK_TEST_NEW=new"}});
  EXPECT_EQ(line_of(child, ChildProcess::From::out), "kept new");
}

TEST(ChildProcess, AProgramThatIsNotThereIsAbsent) {
  try {
    ChildProcess child({.words = {"/no/such/program"}, .environment = {}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::absent);
    EXPECT_NE(std::string(e.what()).find("/no/such/program"), std::string::npos);
  }
}

TEST(ChildProcess, HowItEndedIsTold) {
  ChildProcess killed(shell("kill -9 $$"));
  EXPECT_TRUE(killed.ended_within(10s));
  EXPECT_EQ(killed.ending(), "killed by signal 9");
  ChildProcess failed(shell("exit 3"));
  EXPECT_TRUE(failed.ended_within(10s));
  EXPECT_EQ(failed.ending(), "exit code 3");
}

TEST(ChildProcess, WritingToOneThatIsGoneIsAnErrorAndNoSignal) {
  std::signal(SIGPIPE, SIG_IGN);  // as in the program
  ChildProcess child(shell("exit 0"));
  ASSERT_TRUE(child.ended_within(10s));
  EXPECT_THROW(
      {
        for (int i = 0; i < 100; ++i) child.write_line("hello");
      },
      Error);
}

TEST(ChildProcess, OneThatIsLeftRunningEndsWithItsOwner) {
  std::string number;
  {
    ChildProcess child(shell("echo $$; exec sleep 600"));
    number = line_of(child, ChildProcess::From::out);
  }
  EXPECT_NE(kill(std::stoi(number), 0), 0);
}

}  // namespace
}  // namespace collmark
