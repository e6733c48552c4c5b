#include "kernels/gpu_peers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

struct Table {
  explicit Table(int n) : bytes(static_cast<std::size_t>(n)), all_here(n) {}
  std::vector<std::vector<std::byte>> bytes;  // [rank]
  std::barrier<> all_here;
};

/// Threads in the place of processes.
class ThreadPeers final : public GpuPeers {
 public:
  ThreadPeers(Table& table, int rank) : table_(table), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return static_cast<int>(table_.bytes.size()); }
  [[nodiscard]] std::vector<std::byte> all_gather(std::span<const std::byte> mine) override {
    table_.bytes[static_cast<std::size_t>(rank_)].assign(mine.begin(), mine.end());
    table_.all_here.arrive_and_wait();
    std::vector<std::byte> all;
    for (const auto& one : table_.bytes) all.insert(all.end(), one.begin(), one.end());
    table_.all_here.arrive_and_wait();
    return all;
  }

 private:
  Table& table_;
  int rank_;
};

/// What each of three ranks says of a step that all do together; empty: nothing was thrown.
std::vector<std::string> said(const std::function<void(int rank)>& step) {
  Table table(3);
  std::vector<std::string> words(3);
  {
    std::vector<std::jthread> ranks;
    for (int r = 0; r < 3; ++r)
      ranks.emplace_back([&, r] {
        ThreadPeers peers(table, r);
        try {
          peers.together([&] { step(r); });
        } catch (const Unsupported& e) {
          words[static_cast<std::size_t>(r)] = e.what();
        }
        EXPECT_TRUE(peers.in_step());
      });
  }
  return words;
}

TEST(GpuPeers, AStepThatAllCanDoIsDone) {
  EXPECT_THAT(said([](int) {}), testing::Each(""));
}

TEST(GpuPeers, WhatOneCannotDoAllRefuseWithTheWordsOfTheFirst) {
  const auto words = said([](int rank) {
    if (rank == 1) throw Unsupported("rank 1 has no room");
    if (rank == 2) throw std::bad_alloc();
  });
  EXPECT_THAT(words, testing::Each("rank 1 has no room"));
}

TEST(GpuPeers, WordsThatAreTooLongAreCutAlikeAtAllRanks) {
  const auto words = said([](int rank) {
    if (rank == 0) throw Unsupported(std::string(2'000, 'x'));
  });
  EXPECT_GT(words.front().size(), 400u);
  EXPECT_THAT(words, testing::Each(words.front()));
}

TEST(GpuPeers, WhoeverFailsForGoodIsOutOfStepAndWaitsForNobody) {
  Table table(1);
  ThreadPeers peers(table, 0);
  EXPECT_THROW(peers.together([] { throw Error(ErrorKind::lost, "the GPU is gone"); }), Error);
  EXPECT_FALSE(peers.in_step());
}

}  // namespace
}  // namespace collmark
