/// Two processes, each with a GPU of the stub driver, and memory that goes from one to the other by the calls of CUDA IPC:
/// what MPI does for them elsewhere is done by two pipes here, so sanitizers see it, which MPI's libraries are not built for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "collectives/catalogue.hpp"
#include "kernels/gpu_clock.hpp"
#include "kernels/ipc_memory.hpp"
#include "kernels/kernel_name.hpp"
#include "kernels/launch.hpp"
#include "kernels/with_stub.hpp"

namespace collmark {
namespace {

constexpr int kRanks = 2;
constexpr GpuTuning kSmall{.channels = 2, .threads = 4};

/// A pipe to each rank. Both write before they read: what they say fits.
class PipePeers final : public GpuPeers {
 public:
  PipePeers() {
    for (auto& ends : to_) EXPECT_EQ(pipe(ends.data()), 0);
  }
  ~PipePeers() override {
    for (const auto& ends : to_)
      for (const int end : ends)
        if (end >= 0) close(end);
  }
  /// In its own process: only the other writes to it, and its end is heard.
  void be(int rank) {
    rank_ = rank;
    close(std::exchange(to_[at(rank)][1], -1));
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return kRanks; }
  [[nodiscard]] std::vector<std::byte> all_gather(std::span<const std::byte> mine) override {
    const int other = 1 - rank_;
    const auto size = static_cast<ssize_t>(mine.size());
    EXPECT_EQ(write(to_[at(other)][1], mine.data(), mine.size()), size);
    std::vector<std::byte> all(kRanks * mine.size());
    std::copy(mine.begin(), mine.end(), all.begin() + rank_ * size);
    for (ssize_t got = 0; got < size;) {
      const ssize_t more = read(to_[at(rank_)][0], all.data() + other * size + got, at(size - got));
      if (more <= 0) throw std::runtime_error("the other process has gone");
      got += more;
    }
    return all;
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  std::array<std::array<int, 2>, kRanks> to_{};  // [rank]: its end to read, the other's to write
  int rank_ = 0;
};

/// Both ranks do it, each in a process of its own, where `fault` is that of rank 1.
void with_two_processes(const std::string& fault,
                        const std::function<void(Gpus&, GpuPeers&)>& both_do) {
  PipePeers peers;
  const pid_t second = fork();  // first: a driver with its threads is not for two processes
  peers.be(second == 0 ? 1 : 0);
  {
    const WithStub stub(second == 0 ? fault : "", kRanks);
    Gpus gpus(peers.rank());
    both_do(gpus, peers);
  }
  if (second == 0) _exit(testing::Test::HasFailure() ? 1 : 0);
  int status = 0;
  waitpid(second, &status, 0);
  EXPECT_EQ(status, 0) << "rank 1 failed";
}

TEST(IpcMemory, EachRankReachesThePieceOfTheOther) {
  with_two_processes("", [](Gpus& gpus, GpuPeers& peers) {
    const IpcMemory memory(gpus[0], Bytes{3000}, peers);
    const int other = 1 - peers.rank();
    memory.of(other)[2999] = static_cast<std::byte>(peers.rank() + 5);
    peers.barrier();
    EXPECT_EQ(memory.of(peers.rank())[2999], static_cast<std::byte>(other + 5));
  });
}

class RefusedIpcMemory : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(RefusedIpcMemory, OfOneRankBothRefuseAndAllIsGivenBack) {
  with_two_processes(GetParam().first, [](Gpus& gpus, GpuPeers& peers) {
    const Bytes before = gpus[0].free_memory();
    try {
      const IpcMemory memory(gpus[0], Bytes{3000}, peers);
      ADD_FAILURE() << GetParam().second;
    } catch (const Unsupported& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr(GetParam().second));
    }
    EXPECT_TRUE(peers.in_step());
    EXPECT_EQ(gpus[0].free_memory(), before);
  });
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedIpcMemory,
    testing::Values(std::pair("ipc_refused", "rank 1 on GPU 1"),
                    std::pair("no_ipc", "cannot share memory with other processes"),
                    std::pair("out_of_memory@1", "allocating")),
    [](const auto& test) { return test.param.first.substr(0, test.param.first.find('@')); });

class GpuCollectiveOfTwoProcesses : public testing::TestWithParam<std::string> {};

TEST_P(GpuCollectiveOfTwoProcesses, SumsAgainAndAgain) {
  with_two_processes("", [](Gpus& gpus, GpuPeers& peers) {
    constexpr std::int64_t kCount = 300;
    const KernelTask task{
        .name = parse_kernel_name(GetParam()), .ranks = kRanks, .payload = {.count = {kCount}}};
    GpuCollective collective(gpus, peers, task, kSmall);
    GpuStream& stream = collective.stream(0);
    GpuClock clock({&stream}, HostPatience{});
    clock.finish();
    peers.barrier();
    std::vector<float> values(kCount), sums(kCount);
    const Bytes size{kCount * std::int64_t{sizeof(float)}};
    for (int run = 0; run < 3; ++run) {
      std::iota(values.begin(), values.end(), static_cast<float>(peers.rank() + run));
      stream.copy_to_device(collective.input(peers.rank()),
                            reinterpret_cast<const std::byte*>(values.data()), size);
      collective.run();
      stream.copy_to_host(reinterpret_cast<std::byte*>(sums.data()),
                          collective.output(peers.rank()), size);
      clock.finish();
      for (std::int64_t i = 0; i < kCount; ++i)
        ASSERT_EQ(sums[static_cast<std::size_t>(i)], static_cast<float>(2 * (i + run) + 1))
            << "run " << run;
    }
    collective.queue_report();
    clock.finish();
    EXPECT_FALSE(collective.gave_up());
  });
}

INSTANTIATE_TEST_SUITE_P(All, GpuCollectiveOfTwoProcesses,
                         testing::Values("ring/simple", "ring/LL", "two_shot/simple",
                                         "ring_interpreted", "one_shot/LL"));

}  // namespace
}  // namespace collmark
