#include "topologies/host.hpp"

#include <gtest/gtest.h>

namespace collmark {
namespace {

TEST(Host, HasAtLeastOneCoreAndSomeMemory) {
  const Host host = this_host();
  EXPECT_FALSE(host.cores.empty());
  EXPECT_GT(host.memory_available, 0);
  EXPECT_FALSE(host.kernel.empty());
}

}  // namespace
}  // namespace collmark
