#include "bench/allocation.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "bench/mpirun.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

/// A resource manager's environment in place of the one that the test may run in.
class Allocation : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name :
         {"SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES", "SLURM_NNODES", "SLURMD_NODENAME",
          "PBS_NODEFILE", "LSB_HOSTS", "OMPI_MCA_orte_default_hostfile",
          "PRTE_MCA_prte_default_hostfile"}) {
      const char* const value = std::getenv(name);
      before_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : before_)
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }
  void set(std::initializer_list<std::pair<const char*, std::string>> variables) {
    for (const auto& [name, value] : before_) unsetenv(name.c_str());
    for (const auto& [name, value] : variables) setenv(name, value.c_str(), 1);
  }
  std::string node_file(const std::string& lines) {
    const std::string path = testing::TempDir() + "collmark-nodes-" + std::to_string(getpid());
    std::ofstream(path) << lines;
    return path;
  }

  std::string here_ = this_host().name;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(Allocation, WithoutAResourceManagerRanksStayHere) {
  EXPECT_FALSE(allocation_reaches_elsewhere());
  EXPECT_FALSE(ranks_may_be_elsewhere(""));
  EXPECT_TRUE(ranks_may_be_elsewhere("hosts"));
}

TEST_F(Allocation, OfSlurmOneNodeThatIsThisHostIsHere) {
  for (const char* const count : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"}) {
    set({{"SLURM_JOB_NODELIST", here_}, {count, "1"}});
    EXPECT_FALSE(allocation_reaches_elsewhere()) << count;
    EXPECT_FALSE(ranks_may_be_elsewhere("")) << count;
  }
  set({{"SLURM_JOB_NODELIST", "n7"}, {"SLURM_JOB_NUM_NODES", "1"}, {"SLURMD_NODENAME", "n7"}});
  EXPECT_FALSE(allocation_reaches_elsewhere());
}

TEST_F(Allocation, OfSlurmSeveralNodesOrAnotherAreElsewhere) {
  set({{"SLURM_JOB_NODELIST", here_ + ",n[2-3]"}, {"SLURM_JOB_NUM_NODES", "3"}});
  EXPECT_TRUE(allocation_reaches_elsewhere());
  set({{"SLURM_JOB_NODELIST", here_}});  // an older one that does not count them
  EXPECT_TRUE(allocation_reaches_elsewhere());
  set({{"SLURM_JOB_NODELIST", "n7"}, {"SLURM_JOB_NUM_NODES", "1"}});  // from a login node
  EXPECT_TRUE(allocation_reaches_elsewhere());
  EXPECT_TRUE(ranks_may_be_elsewhere(""));
}

TEST_F(Allocation, OfPbsALineASlotIsReadFromItsFile) {
  set({{"PBS_NODEFILE", node_file(here_ + "\n" + here_ + ".cluster.example\n")}});
  EXPECT_FALSE(allocation_reaches_elsewhere());
  set({{"PBS_NODEFILE", node_file(here_ + "\nother\n")}});
  EXPECT_TRUE(allocation_reaches_elsewhere());
  set({{"PBS_NODEFILE", node_file("")}});
  EXPECT_TRUE(allocation_reaches_elsewhere());
  set({{"PBS_NODEFILE", "/no/such/file"}});
  EXPECT_TRUE(allocation_reaches_elsewhere());
}

TEST_F(Allocation, OfLsfAWordASlotIsReadFromItsVariable) {
  set({{"LSB_HOSTS", here_ + " " + here_}});
  EXPECT_FALSE(allocation_reaches_elsewhere());
  set({{"LSB_HOSTS", here_ + " other"}});
  EXPECT_TRUE(allocation_reaches_elsewhere());
}

}  // namespace
}  // namespace collmark
