#include "topologies/host.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace collmark {
namespace {

TEST(Host, HasAtLeastOneCoreAndSomeMemory) {
  const Host host = this_host();
  EXPECT_FALSE(host.cores.empty());
  EXPECT_GT(host.memory_available, 0);
  EXPECT_FALSE(host.kernel.empty());
  EXPECT_GE(host.physical_cores, 1U);
  EXPECT_LE(host.physical_cores, host.cores.size());
}

/// A folder like /sys/devices/system/cpu: [logical core] -> the logical cores of its physical one.
class Siblings : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "collmark-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void add(int core, const std::string& siblings) const {
    const std::string topology = folder_ + "/cpu" + std::to_string(core) + "/topology";
    std::filesystem::create_directories(topology);
    std::ofstream(topology + "/thread_siblings_list") << siblings << "\n";
  }
  [[nodiscard]] std::size_t count(const std::vector<int>& cores) const {
    return count_physical_cores(cores, folder_);
  }

 private:
  std::string folder_;
};

TEST_F(Siblings, ThreadsOfOneCoreCountOnce) {
  for (const int core : {0, 1, 2, 3})
    add(core, std::to_string(core % 2) + "," + std::to_string(core % 2 + 2));
  EXPECT_EQ(count({0, 1, 2, 3}), 2U);
  EXPECT_EQ(count({0, 2}), 1U);
  EXPECT_EQ(count({1, 2}), 2U);
}

TEST_F(Siblings, CoresOfWhichNothingIsKnownCountOneByOne) {
  add(0, "0-1");
  EXPECT_EQ(count({0, 7, 8}), 3U);
  EXPECT_EQ(count({}), 0U);
}

}  // namespace
}  // namespace collmark
