#include "bench/output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "collectives/error.hpp"

namespace collmark {
namespace {

namespace fs = std::filesystem;

/// An empty folder that is gone after the test.
class OutputFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("output_test_" + std::to_string(getpid()));
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string in(const char* name) const { return (folder_ / name).string(); }
  [[nodiscard]] int files() const {
    return static_cast<int>(std::distance(fs::directory_iterator(folder_), {}));
  }
  static std::string contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  fs::path folder_;
};

template <class Act>
ErrorKind kind_of(Act act) {
  try {
    act();
  } catch (const Error& e) {
    return e.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::broken;
}

TEST_F(OutputFolder, ReplacedFile_HoldsTheNewTextAndHasNoNeighbour) {
  replace_file(in("a"), "old");
  replace_file(in("a"), "new text");
  EXPECT_EQ(contents(in("a")), "new text");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFolder, FullDisk_IsOutputFailed) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(kind_of([] { replace_file("/dev/full", "text"); }), ErrorKind::output_failed);
}

TEST_F(OutputFolder, FolderOrMissingFolder_IsAUsageErrorAndLeavesNothing) {
  for (const std::string& path : {folder_.string(), in("no/such/file")}) {
    EXPECT_EQ(kind_of([&] { replace_file(path, "text"); }), ErrorKind::usage) << path;
    EXPECT_EQ(kind_of([&] { require_writable(path); }), ErrorKind::usage) << path;
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(OutputFolder, WritablePath_IsTestedWithoutATrace) {
  require_writable(in("a"));
  EXPECT_EQ(files(), 0);
  replace_file(in("a"), "kept");
  require_writable(in("a"));
  EXPECT_EQ(contents(in("a")), "kept");
}

TEST_F(OutputFolder, ReadOnlyFile_IsRefusedBeforeAnythingRuns) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everything";
  replace_file(in("a"), "kept");
  chmod(in("a").c_str(), 0444);
  EXPECT_EQ(kind_of([&] { require_writable(in("a")); }), ErrorKind::usage);
}

}  // namespace
}  // namespace collmark
