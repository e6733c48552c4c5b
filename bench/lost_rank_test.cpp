// Against what launchers really wrote: Open MPI 4.1.4 and MPICH 4.0.2, of a job of three on a host called vm.
#include "bench/lost_rank.hpp"

#include <gtest/gtest.h>

namespace collmark {
namespace {

constexpr const char* kOpenMpi =
    R"(--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
--------------------------------------------------------------------------
mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).
--------------------------------------------------------------------------
)";

constexpr const char* kMpich = R"(
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 5040 RUNNING AT vm
=   EXIT CODE: 11
=   CLEANING UP REMAINING PROCESSES
=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
===================================================================================
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)
This typically refers to a problem with your application.
Please see the FAQ page for debugging suggestions
)";

TEST(LostRank, OpenMpiNamesTheRank) {
  EXPECT_EQ(lost_rank(kOpenMpi, {}), "rank 1 was killed by signal 9");
}

TEST(LostRank, OpenMpiNamesWhoHasEndedByItself) {
  EXPECT_EQ(lost_rank("The first process to do so was:\n\n  Process name: [[2304,1],1]\n"
                      "  Exit code:    3\n",
                      {}),
            "rank 1 ended with exit code 3");
  EXPECT_EQ(lost_rank("MPI_ABORT was invoked on rank 12 in communicator MPI_COMM_WORLD\n"
                      "with errorcode 5.\n",
                      {}),
            "rank 12 called MPI_Abort with 5");
}

TEST(LostRank, MpichNamesTheProcessThatHasEndedByItself) {
  EXPECT_EQ(lost_rank("=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
                      "=   PID 5039 RUNNING AT vm\n=   EXIT CODE: 3\n",
                      {{5038, "vm"}, {5039, "vm"}}),
            "rank 1 ended with exit code 3");
}

TEST(LostRank, MpichNamesTheProcess) {
  EXPECT_EQ(lost_rank(kMpich, {{5038, "vm"}, {5039, "vm"}, {5040, "vm"}}),
            "rank 2 was killed by signal 11");
}

TEST(LostRank, WhereTwoHostsHaveSuchAProcessTheHostDecides) {
  EXPECT_EQ(lost_rank(kMpich, {{5040, "a"}, {5040, "vm"}}), "rank 1 was killed by signal 11");
  EXPECT_EQ(lost_rank(kMpich, {{5040, "a"}, {5040, "b"}}), "");
}

TEST(LostRank, AHostMayHaveOtherNamesForItself) {
  EXPECT_EQ(lost_rank(kMpich, {{5040, "vm.example.org"}}), "rank 0 was killed by signal 11");
}

TEST(LostRank, NobodyIsNamedForAProcessThatIsNoRank) {
  EXPECT_EQ(lost_rank(kMpich, {{7, "vm"}}), "");
  EXPECT_EQ(lost_rank(kMpich, {}), "");
  EXPECT_EQ(lost_rank("words", {{5040, "vm"}}), "");
}

}  // namespace
}  // namespace collmark
