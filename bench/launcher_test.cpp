#include "bench/launcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "collectives/error.hpp"

namespace collmark {
namespace {

/// A launcher's environment, and none of another's, for the length of a test.
class LauncherEnvironment : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* v : kVariables) {
      if (const char* old = std::getenv(v)) saved_.emplace_back(v, old);
      unsetenv(v);
    }
  }
  void TearDown() override {
    for (const char* v : kVariables) unsetenv(v);
    for (const auto& [name, value] : saved_) setenv(name.c_str(), value.c_str(), 1);
  }
  static void set(const char* name, const char* value) { setenv(name, value, 1); }

 private:
  static constexpr const char* kVariables[] = {"OMPI_COMM_WORLD_SIZE",
                                               "OMPI_COMM_WORLD_RANK",
                                               "MV2_COMM_WORLD_SIZE",
                                               "MV2_COMM_WORLD_RANK",
                                               "PMI_SIZE",
                                               "PMI_RANK",
                                               "SLURM_NTASKS",
                                               "SLURM_STEP_NUM_TASKS",
                                               "SLURM_PROCID"};
  std::vector<std::pair<std::string, std::string>> saved_;
};

int refused_with() {
  try {
    refuse_launcher();
  } catch (const Error& e) {
    return exit_code(e.kind());
  }
  return 0;
}

std::string refusal() {
  try {
    refuse_launcher();
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST_F(LauncherEnvironment, WithoutOne_RunsAlone) {
  EXPECT_FALSE(launcher().has_value());
  EXPECT_EQ(refused_with(), 0);
}

TEST_F(LauncherEnvironment, SeveralRanksOfAnyLauncher_AreRefusedWith77) {
  const std::pair<const char*, const char*> pairs[] = {
      {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
      {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
      {"PMI_SIZE", "PMI_RANK"},
      {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
  for (const auto& [size, rank] : pairs) {
    set(size, "4");
    EXPECT_EQ(refused_with(), 0) << size << " alone says nothing about this process";
    set(rank, "2");
    EXPECT_EQ(refused_with(), 77) << size;
    unsetenv(size);
    unsetenv(rank);
  }
}

TEST_F(LauncherEnvironment, Message_NamesRankCountAndVariable) {
  set("OMPI_COMM_WORLD_SIZE", "4");
  set("OMPI_COMM_WORLD_RANK", "2");
  EXPECT_THAT(refusal(),
              testing::HasSubstr("rank 2 of 4 by Open MPI's mpirun (OMPI_COMM_WORLD_SIZE=4)"));
}

TEST_F(LauncherEnvironment, JobOfOneProcess_MayMeasure) {
  set("OMPI_COMM_WORLD_SIZE", "1");
  set("OMPI_COMM_WORLD_RANK", "0");
  EXPECT_TRUE(launcher().has_value());
  EXPECT_EQ(refused_with(), 0);
}

// As Slurm 22.05 sets them.
TEST_F(LauncherEnvironment, SlurmBatchScript_IsNotLaunchedAsManyTimesAsTheJobHasTasks) {
  set("SLURM_NTASKS", "8");
  set("SLURM_PROCID", "0");
  EXPECT_FALSE(launcher().has_value());
  EXPECT_EQ(refused_with(), 0);
}

TEST_F(LauncherEnvironment, StepOfOneTaskInAJobOfMany_IsAJobOfOne) {
  set("SLURM_NTASKS", "8");
  set("SLURM_PROCID", "0");
  set("SLURM_STEP_NUM_TASKS", "1");
  ASSERT_TRUE(launcher().has_value());
  EXPECT_EQ(launcher()->ranks, 1);
  EXPECT_EQ(refused_with(), 0);
}

TEST_F(LauncherEnvironment, MpirunInsideOfASlurmJob_CountsAndNotTheJob) {
  set("SLURM_STEP_NUM_TASKS", "8");
  set("SLURM_PROCID", "3");
  set("OMPI_COMM_WORLD_SIZE", "2");
  set("OMPI_COMM_WORLD_RANK", "1");
  ASSERT_TRUE(launcher().has_value());
  EXPECT_EQ(launcher()->ranks, 2);
  EXPECT_EQ(launcher()->rank, 1);
}

TEST_F(LauncherEnvironment, VariableThatNoLauncherSetsSo_IsRefusedByName) {
  const std::pair<const char*, const char*> garbage[] = {{"OMPI_COMM_WORLD_SIZE", "abc"},
                                                         {"PMI_SIZE", "4x"},
                                                         {"PMI_SIZE", "0"},
                                                         {"PMI_RANK", "-1"},
                                                         {"SLURM_STEP_NUM_TASKS", "1.5"},
                                                         {"SLURM_PROCID", "99999999999"}};
  for (const auto& [variable, value] : garbage) {
    set(variable, value);
    EXPECT_FALSE(launcher().has_value()) << variable;
    EXPECT_EQ(refused_with(), 2) << variable;
    EXPECT_THAT(refusal(), testing::HasSubstr(std::string(variable) + "='" + value + "'"));
    unsetenv(variable);
  }
}

TEST_F(LauncherEnvironment, EmptyVariable_IsNone) {
  set("PMI_SIZE", "");
  set("PMI_RANK", "");
  EXPECT_EQ(refused_with(), 0);
}

}  // namespace
}  // namespace collmark
