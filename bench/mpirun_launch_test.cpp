// The protocol against launchers that are shell scripts: no MPI is needed for what can go wrong.
#include "bench/mpirun_launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/case_json.hpp"

namespace collmark {
namespace {

using testing::HasSubstr;

constexpr const char* kHello = R"(echo '{"hello":{"library":"none","ranks":3}}'; )";

class Script {
 public:
  explicit Script(const std::string& text,
                  std::chrono::milliseconds timeout = std::chrono::milliseconds{100})
      : launch_({.words = {"/bin/sh", "-c", text}, .environment = {}}, {.timeout = timeout},
                interrupted_) {}

  CaseResult run(int ranks = 3) {
    Case c;
    c.ranks = ranks;
    return std::get<CaseResult>(launch_.carry_out(c));
  }
  void end() { launch_.end(); }
  void interrupt() { interrupted_ = true; }

 private:
  std::atomic<bool> interrupted_{false};
  MpirunLaunch launch_;
};

std::string result_line() {
  const CaseResult result{.implementation = "a script", .algorithm = "ring"};
  return "echo '" + nlohmann::json{{"result", to_json(result)}}.dump() + "'; ";
}

/// The error that `action` ends with, as "kind: words".
template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
    return "none";
  } catch (const Error& e) {
    return std::to_string(exit_code(e.kind())) + ": " + e.what();
  }
}

TEST(MpirunLaunch, EachCaseIsAnsweredByItsResult) {
  Script script(kHello + std::string("while read line; do ") + result_line() + "done");
  EXPECT_EQ(script.run().implementation, "a script");
  EXPECT_EQ(script.run().algorithm, "ring");
}

TEST(MpirunLaunch, WordsOfOthersBetweenTheMessagesAreNoAnswer) {
  Script script(std::string("echo hello; echo '{broken'; echo '{\"other\":1}'; ") + kHello +
                "read line; echo words; " + result_line() + "read line");
  EXPECT_EQ(script.run().implementation, "a script");
}

TEST(MpirunLaunch, ALauncherThatStartsNothingIsAbsentForItsReason) {
  const std::string error =
      error_of([] { Script script("echo ----; echo no slots left >&2; exit 1"); });
  EXPECT_THAT(error, HasSubstr("77: "));
  EXPECT_THAT(error, HasSubstr("no slots left"));
}

TEST(MpirunLaunch, RanksOfAnotherMpiAreAbsent) {
  const std::string error = error_of([] {
    Script script(
        R"(echo '{"failure":{"kind":77,"rank":0,"what":"sees a job of 1"}}'; exec sleep 60)");
  });
  EXPECT_EQ(error, "77: sees a job of 1");
}

TEST(MpirunLaunch, ARankThatWasKilledIsNamed) {
  Script script(kHello +
                std::string("read line; echo 'mpirun noticed that process rank 2 with PID 0 on "
                            "node a exited on signal 9 (Killed).' >&2; exit 137"));
  EXPECT_EQ(error_of([&] { (void)script.run(); }), "8: rank 2 was killed by signal 9");
}

TEST(MpirunLaunch, AProcessThatWasKilledIsNamedAsTheRankThatItWas) {
  const std::string hello =
      R"(echo '{"hello":{"processes":[{"pid":7,"host":"a"},{"pid":8,"host":"a"}]}}'; )";
  Script script(hello + R"(read line; echo '=   PID 8 RUNNING AT a
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)'; exit 9)");
  EXPECT_EQ(error_of([&] { (void)script.run(); }), "8: rank 1 was killed by signal 9");
}

TEST(MpirunLaunch, ARankThatEndedBetweenTwoCasesIsNamed) {
  std::signal(SIGPIPE, SIG_IGN);  // as the program does
  Script script(kHello + std::string("echo '  Process name: [[7,1],2]\n  Exit code:    3' >&2; "
                                     "exec 0<&-; sleep 0.2"));
  std::this_thread::sleep_for(std::chrono::milliseconds{500});
  EXPECT_EQ(error_of([&] { (void)script.run(); }), "8: rank 2 ended with exit code 3");
}

TEST(MpirunLaunch, RanksThatAreGoneWithoutAWordAreLost) {
  Script script(kHello + std::string("read line; exit 3"));
  EXPECT_EQ(error_of([&] { (void)script.run(); }),
            "8: all ranks are gone: mpirun ended with exit code 3");
}

TEST(MpirunLaunch, OfAHangTheFirstComplaintAndTheSilentRankAreTold) {
  Script script(kHello + std::string(R"(read line
    echo '{"failure":{"kind":7,"rank":2,"what":"rank 2 waits for rank 1"}}'
    echo '{"failure":{"kind":7,"rank":0,"what":"rank 0 waits for rank 2"}}'
    exec sleep 60)"));
  EXPECT_EQ(error_of([&] { (void)script.run(); }),
            "7: rank 2 waits for rank 1; rank 1 had said nothing 0.3 s later");
}

TEST(MpirunLaunch, OfAHangOutsideACaseTheSilentRankIsNamedToo) {
  Script script(R"(echo '{"hello":{"processes":[{"pid":1,"host":"a"},{"pid":2,"host":"a"},'\
    '{"pid":3,"host":"a"},{"pid":4,"host":"a"}]}}'; read line
    echo '{"failure":{"kind":7,"rank":2,"what":"rank 2 waits for the others to form a group"}}'
    echo '{"failure":{"kind":7,"rank":0,"what":"so does rank 0"}}'; sleep 0.1
    echo '{"failure":{"kind":7,"rank":1,"what":"so does rank 1"}}'
    exec sleep 60)");
  EXPECT_EQ(error_of([&] { (void)script.run(2); }),
            "7: rank 2 waits for the others to form a group; rank 3 had said nothing 0.3 s later");
}

TEST(MpirunLaunch, ItsEndIsWhenMpirunHasEndedWell) {
  Script script(kHello + std::string("while read line; do ") + result_line() +
                "done; sleep 0.2; echo bye");
  EXPECT_EQ(script.run().algorithm, "ring");
  EXPECT_EQ(error_of([&] { script.end(); }), "none");
  EXPECT_EQ(error_of([&] { script.end(); }), "none");
}

TEST(MpirunLaunch, ARankThatSaysThatItCannotEndIsTold) {
  Script script(kHello + std::string(R"(while read line; do :; done
    echo '{"failure":{"kind":7,"rank":0,"what":"rank 0 waits in MPI_Finalize"}}'
    exec sleep 60)"));
  EXPECT_EQ(error_of([&] { script.end(); }), "7: rank 0 waits in MPI_Finalize");
}

TEST(MpirunLaunch, OfRanksThatDoNotEndThoseAreNamedThatAreStillThere) {
  Script script(std::string(R"(sh -c 'exit 0' & gone=$!; wait
    echo '{"hello":{"processes":[{"pid":'$gone',"host":"'$(uname -n)'"},{"pid":'$$',"host":"'$(uname -n)'"},)") +
                R"({"pid":1,"host":"another"}]}}'; exec sleep 60)");
  EXPECT_EQ(error_of([&] { script.end(); }), "7: rank 1 had not ended 7.3 s after the last order");
}

TEST(MpirunLaunch, ARankThatIsKilledAtTheEndIsLost) {
  Script script(kHello + std::string("while read line; do :; done; echo 'mpirun noticed that "
                                     "process rank 2 with PID 0 on node a exited on signal 9 "
                                     "(Killed).' >&2; exit 137"));
  EXPECT_EQ(error_of([&] { script.end(); }), "8: rank 2 was killed by signal 9");
}

TEST(MpirunLaunch, AnEndThatIsNoneOfRanksIsTold) {
  Script script(kHello + std::string("while read line; do :; done; exit 3"));
  EXPECT_EQ(error_of([&] { script.end(); }),
            "8: after the last case mpirun ended with exit code 3");
}

TEST(MpirunLaunch, AnInterruptEndsTheWaitForItsEnd) {
  Script script(kHello + std::string("exec sleep 60"));
  script.interrupt();
  EXPECT_EQ(error_of([&] { script.end(); }), "130: interrupted");
}

TEST(MpirunLaunch, AnInterruptEndsTheCaseThatRuns) {
  Script script(kHello + std::string("read line; exec sleep 60"));
  script.interrupt();
  EXPECT_EQ(error_of([&] { (void)script.run(); }), "130: interrupted");
}

}  // namespace
}  // namespace collmark
