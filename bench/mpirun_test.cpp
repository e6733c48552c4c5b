#include "bench/mpirun.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "collectives/error.hpp"

namespace collmark {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

const Mpirun kOpenMpi{.path = "/bin/mpirun", .dialect = Mpirun::Dialect::open_mpi};
const Mpirun kHydra{.path = "/bin/mpirun", .dialect = Mpirun::Dialect::hydra};

/// On four cores of two threads each.
ChildCommand on_four_cores(int ranks) {
  return mpirun_command(kOpenMpi, {.ranks = ranks, .cores = 8, .physical_cores = 4}, {"p", "q"});
}

TEST(Mpirun, RanksThatHaveACoreEachAreBoundToIt) {
  for (const int ranks : {2, 4}) {
    const ChildCommand command = on_four_cores(ranks);
    EXPECT_THAT(command.words,
                ElementsAre("/bin/mpirun", "-n", std::to_string(ranks), "--map-by",
                            "slot:OVERSUBSCRIBE", "--bind-to", "core:overload-allowed", "p", "q"));
    EXPECT_THAT(command.environment, Contains("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"));
    EXPECT_THAT(command.environment, Not(Contains("OMPI_MCA_mpi_yield_when_idle=1")));
  }
}

TEST(Mpirun, RanksThatHaveAThreadOfACoreEachAreBoundToIt) {
  for (const int ranks : {5, 8}) {
    const ChildCommand command = on_four_cores(ranks);
    EXPECT_THAT(command.words, ElementsAre("/bin/mpirun", "-n", std::to_string(ranks), "--map-by",
                                           "slot:OVERSUBSCRIBE", "--use-hwthread-cpus", "--bind-to",
                                           "hwthread:overload-allowed", "p", "q"));
    EXPECT_THAT(command.environment, Not(Contains("OMPI_MCA_mpi_yield_when_idle=1")));
  }
}

TEST(Mpirun, RanksThatShareCoresAreNotBoundAndGiveWay) {
  const ChildCommand command = on_four_cores(9);
  EXPECT_THAT(command.words, Contains("none"));
  EXPECT_THAT(command.environment, Contains("OMPI_MCA_mpi_yield_when_idle=1"));
}

/// Its default is `-bind-to none` (mpiexec -bind-to -help of 4.0.2 and 4.3.2), and it knows no word of Open MPI's.
TEST(Mpirun, HydraBindsNobodyUnlessTheUserSaysSo) {
  for (const int ranks : {2, 8, 9}) {
    const MpirunRequest request{.ranks = ranks, .cores = 8, .physical_cores = 4};
    const ChildCommand command = mpirun_command(kHydra, request, {"p"});
    EXPECT_THAT(command.words, ElementsAre("/bin/mpirun", "-n", std::to_string(ranks), "p"));
    EXPECT_THAT(command.environment, IsEmpty());
  }
  const MpirunRequest request{
      .ranks = 2, .cores = 2, .physical_cores = 2, .arguments = "-bind-to hwthread -map-by core"};
  EXPECT_THAT(
      mpirun_command(kHydra, request, {"p"}).words,
      ElementsAre("/bin/mpirun", "-n", "2", "-bind-to", "hwthread", "-map-by", "core", "p"));
}

TEST(Mpirun, WhatTheUserSaysOfMappingLeavesBindingToUs) {
  const MpirunRequest request{
      .ranks = 2, .cores = 2, .physical_cores = 2, .arguments = "--map-by package"};
  EXPECT_THAT(mpirun_command(kOpenMpi, request, {"p"}).words,
              ElementsAre("/bin/mpirun", "-n", "2", "--bind-to", "core:overload-allowed",
                          "--map-by", "package", "p"));
}

TEST(Mpirun, WhereRanksMayBeElsewhereNobodyIsBound) {
  const ChildCommand command = mpirun_command(kOpenMpi, {.ranks = 64}, {"p"});
  EXPECT_THAT(command.words,
              ElementsAre("/bin/mpirun", "-n", "64", "--map-by", "slot:OVERSUBSCRIBE", "p"));
  EXPECT_THAT(command.environment, Not(Contains("OMPI_MCA_mpi_yield_when_idle=1")));
}

TEST(Mpirun, WhatTheUserSaysAboutPlacementStandsAlone) {
  const ChildCommand command = mpirun_command(
      kOpenMpi,
      {.ranks = 2, .cores = 2, .physical_cores = 2, .arguments = "--map-by node --bind-to none"},
      {"p"});
  EXPECT_THAT(command.words,
              ElementsAre("/bin/mpirun", "-n", "2", "--map-by", "node", "--bind-to", "none", "p"));
}

TEST(Mpirun, AHostfileIsNamedInEachDialect) {
  const MpirunRequest request{.ranks = 8, .hostfile = "hosts"};
  EXPECT_THAT(mpirun_command(kOpenMpi, request, {"p"}).words,
              ElementsAre("/bin/mpirun", "-n", "8", "--hostfile", "hosts", "--map-by",
                          "slot:OVERSUBSCRIBE", "p"));
  EXPECT_THAT(mpirun_command(kHydra, request, {"p"}).words,
              ElementsAre("/bin/mpirun", "-n", "8", "-f", "hosts", "p"));
}

/// A folder of launchers that only say what they are, as PATH for the length of a test.
class LaunchersOnPath : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "collmark-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = std::getenv("PATH");
    setenv("PATH", folder_.c_str(), 1);
  }
  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  void add(const std::string& name, const std::string& says) {
    const std::filesystem::path file = folder_ / name;
    std::ofstream(file) << "#!/bin/sh\necho '" << says << "'\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  static std::string found_for(std::string_view library) {
    return std::filesystem::path(find_mpirun(library).path).filename();
  }

 private:
  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(LaunchersOnPath, TheOneThatBelongsToTheLibraryIsTaken) {
  add("mpirun", "mpirun (Open MPI) 4.1.4");
  add("mpirun.mpich", "HYDRA build details:");
  EXPECT_EQ(found_for("Open MPI 4.1.4"), "mpirun");
  EXPECT_EQ(found_for("MPICH 4.0.2"), "mpirun.mpich");
  EXPECT_EQ(find_mpirun("MPICH 4.0.2").dialect, Mpirun::Dialect::hydra);
  EXPECT_EQ(found_for(""), "mpirun");
}

/// 5 has PRRTE for a launcher, whose documents have the same words: --map-by slot:OVERSUBSCRIBE, --use-hwthread-cpus,
/// --bind-to core, hwthread or none with :overload-allowed. As root it wants variables of its own.
TEST_F(LaunchersOnPath, OpenMpi5IsCalledAs4) {
  for (const char* const version : {"4.1.4", "5.0.7"}) {
    add("mpirun", std::string("mpirun (Open MPI) ") + version);
    const Mpirun mpirun = find_mpirun(std::string("Open MPI ") + version);
    EXPECT_EQ(mpirun.dialect, Mpirun::Dialect::open_mpi) << version;
    const MpirunRequest request{.ranks = 2, .cores = 2, .physical_cores = 1};
    const ChildCommand command = mpirun_command(mpirun, request, {"p"});
    EXPECT_THAT(command.words,
                ElementsAre(mpirun.path, "-n", "2", "--map-by", "slot:OVERSUBSCRIBE",
                            "--use-hwthread-cpus", "--bind-to", "hwthread:overload-allowed", "p"));
    for (const char* const launcher : {"OMPI", "PRTE"})
      EXPECT_THAT(command.environment,
                  Contains(std::string(launcher) + "_ALLOW_RUN_AS_ROOT_CONFIRM=1"));
  }
}

TEST_F(LaunchersOnPath, AForeignOneIsBetterThanNone) {
  EXPECT_EQ(found_for("MPICH 4.0.2"), "");
  add("mpiexec", "mpiexec (OpenRTE) 4.1.4");
  EXPECT_EQ(found_for("MPICH 4.0.2"), "mpiexec");
}

TEST(Mpirun, ArgumentsAreSplitAsAShellDoes) {
  EXPECT_THAT(shell_words(""), IsEmpty());
  EXPECT_THAT(shell_words("  -x A=1\t--mca 'a b' \"\" c\"d e\"f "),
              ElementsAre("-x", "A=1", "--mca", "a b", "", "cd ef"));
  EXPECT_THROW((void)shell_words("--mca 'a"), Error);
}

}  // namespace
}  // namespace collmark
