#include "kernels/nccl/nccl_collective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "collectives/catalogue.hpp"
#include "kernels/stub_nccl/with_stub_nccl.hpp"

namespace collmark {
namespace {

using testing::HasSubstr;

NcclTask task(Collective collective, std::int64_t count) {
  return {.collective = collective, .payload = {.count = {count}, .dtype = Dtype::i32}};
}

/// A collective with the clock that waits for it, and integers in its buffers.
struct Running {
  Running(NcclGroup& group, const NcclTask& what, NcclBuffers buffers = NcclBuffers::plain)
      : collective(group, what, buffers),
        count(static_cast<std::size_t>(what.payload.count.value)),
        clock(streams(), {}) {}
  std::vector<GpuStream*> streams() {
    std::vector<GpuStream*> all;
    for (int d = 0; d < collective.devices(); ++d) all.push_back(&collective.stream(d));
    return all;
  }
  /// One operation, as a graph for each device.
  std::vector<std::unique_ptr<GpuGraph>> captured() {
    for (GpuStream* stream : streams()) stream->begin_capture();
    collective.run();
    std::vector<std::unique_ptr<GpuGraph>> graphs;
    for (GpuStream* stream : streams()) graphs.push_back(stream->end_capture());
    return graphs;
  }
  GpuStream& stream_of(int rank) { return collective.stream(collective.device_of(rank)); }
  void write(int rank, const std::vector<std::int32_t>& values) {
    stream_of(rank).copy_to_device(collective.input(rank),
                                   reinterpret_cast<const std::byte*>(values.data()), size());
    clock.finish();
  }
  std::vector<std::int32_t> read(int rank) {
    std::vector<std::int32_t> values(count);
    stream_of(rank).copy_to_host(reinterpret_cast<std::byte*>(values.data()),
                                 collective.output(rank), size());
    clock.finish();
    return values;
  }
  [[nodiscard]] Bytes size() const { return {static_cast<std::int64_t>(count * 4)}; }

  NcclCollective collective;
  std::size_t count;
  GpuClock clock;
};

/// Everything that a group of all GPUs needs.
struct World {
  explicit World(int ranks, const std::string& faults = "") : stub(faults, ranks) {
    for (int d = 0; d < ranks; ++d) all.push_back(&gpus[d]);
    group.emplace(nccl, all, HostPatience{});
  }
  WithStubNccl stub;
  Gpus gpus;
  Nccl nccl;
  std::vector<Gpu*> all;
  std::optional<NcclGroup> group;
};

TEST(NcclCollective, AddsUpWhatAllRanksHave) {
  World world(3);
  for (const NcclBuffers buffers : {NcclBuffers::plain, NcclBuffers::registered}) {
    Running run(*world.group, task(Collective::all_reduce, 2), buffers);
    for (int rank = 0; rank < 3; ++rank) run.write(rank, {rank + 1, 10 * rank});
    run.collective.run();
    for (int rank = 0; rank < 3; ++rank)
      EXPECT_EQ(run.read(rank), (std::vector<std::int32_t>{6, 30}));
  }
}

/// Streams and buffers for one rank on each GPU.
struct Elsewhere {
  Elsewhere(World& world, Bytes size) {
    for (Gpu* gpu : world.all) {
      streams.push_back(std::make_unique<GpuStream>(*gpu));
      memory.emplace_back(*gpu, size);
      place.streams.push_back(streams.back().get());
      place.buffers.push_back(memory.back().data());
    }
  }
  std::vector<GpuMemory> memory;
  std::vector<std::unique_ptr<GpuStream>> streams;
  GpuPlace place;
};

TEST(NcclCollective, RunsInTheStreamsAndBuffersOfSomebodyElse) {
  World world(2);
  Elsewhere elsewhere(world, Bytes{8});
  NcclTask what = task(Collective::all_reduce, 2);
  what.placement = Placement::in_place;
  NcclCollective collective(*world.group, what, elsewhere.place);
  GpuClock clock(elsewhere.place.streams, {});
  std::vector<std::int32_t> values{3, 4};
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(&collective.stream(rank), elsewhere.place.streams[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(collective.input(rank), collective.output(rank));
    collective.stream(rank).copy_to_device(
        collective.input(rank), reinterpret_cast<const std::byte*>(values.data()), Bytes{8});
  }
  clock.finish();
  collective.run();
  collective.stream(1).copy_to_host(reinterpret_cast<std::byte*>(values.data()),
                                    elsewhere.place.buffers[1], Bytes{8});
  clock.finish();
  EXPECT_EQ(values, (std::vector<std::int32_t>{6, 8}));
}

TEST(NcclCollective, APlaceThatDoesNotFitIsRefused) {
  World world(2);
  Elsewhere elsewhere(world, Bytes{8});
  NcclTask what = task(Collective::all_reduce, 2);
  EXPECT_THROW(NcclCollective(*world.group, what, elsewhere.place), Error) << "out of place";
  what.placement = Placement::in_place;
  EXPECT_NO_THROW(NcclCollective(*world.group, what, elsewhere.place));
  elsewhere.place.buffers.pop_back();
  EXPECT_THROW(NcclCollective(*world.group, what, elsewhere.place), Error);
}

TEST(NcclCollective, PartsLieWhereAllRanksWouldLie) {
  World world(2);
  Running scatter(*world.group, task(Collective::reduce_scatter, 4));
  for (int rank = 0; rank < 2; ++rank) scatter.write(rank, {1, 2, 3, 4});
  scatter.collective.run();
  EXPECT_EQ(scatter.read(0)[1], 4);
  EXPECT_EQ(scatter.read(1)[2], 6);
  Running gather(*world.group, task(Collective::all_gather, 4));
  gather.write(0, {1, 2, 0, 0});
  gather.write(1, {0, 0, 3, 4});
  gather.collective.run();
  EXPECT_EQ(gather.read(1), (std::vector<std::int32_t>{1, 2, 3, 4}));
}

TEST(NcclCollective, AllToAllSendsTheBlockOfEachPeer) {
  World world(2);
  Running run(*world.group, task(Collective::all_to_all, 2));
  run.write(0, {1, 2});
  run.write(1, {3, 4});
  run.collective.run();
  EXPECT_EQ(run.read(0), (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(run.read(1), (std::vector<std::int32_t>{2, 4}));
}

TEST(NcclCollective, IsReplayedFromAGraphOnWhatTheBuffersHoldThen) {
  World world(2);
  Running run(*world.group, task(Collective::all_reduce, 1));
  const std::vector<std::unique_ptr<GpuGraph>> graphs = run.captured();
  for (const int value : {5, 7}) {
    for (int rank = 0; rank < 2; ++rank) run.write(rank, {value});
    for (int rank = 0; rank < 2; ++rank)
      run.stream_of(rank).replay(*graphs[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(run.read(1).front(), 2 * value);
  }
}

TEST(NcclCollective, AnErrorOfARankIsSeenWhileTheHostWaits) {
  World world(2, "async_error");
  NcclCollective collective(*world.group, task(Collective::all_reduce, 1), NcclBuffers::plain);
  try {
    collective.run();
    collective.watch();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::lost);
    EXPECT_THAT(e.what(), HasSubstr("all_reduce: remote process exited"));
  }
  world.group->abort();  // or the streams would never end
}

TEST(NcclCollective, AfterAnErrorBehindAClosedGateEverythingComesToAnEnd) {
  World world(2, "async_error");
  Running run(*world.group, task(Collective::all_reduce, 1));
  run.clock.finish();
  run.clock.start();
  EXPECT_THROW(run.collective.run(), Error);
  run.clock.let_go();
  world.group->abort();
  const auto begin = std::chrono::steady_clock::now();
  while (!run.clock.idle() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20))
    std::this_thread::yield();
  EXPECT_TRUE(run.clock.idle());
}

/// NCCL's abort waits for graphs that hold its work: whoever gives up lets go of them first.
TEST(NcclCollective, AnAbortComesBackOnceTheGraphsAreGone) {
  World world(2);
  Running run(*world.group, task(Collective::all_reduce, 1));
  std::vector<std::unique_ptr<GpuGraph>> graphs = run.captured();
  std::atomic<bool> back{false};
  std::thread abort([&] {
    world.group->abort();
    back = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(back);
  graphs.clear();
  abort.join();
  EXPECT_TRUE(back);
}

/// As processes do it: a rank each.
TEST(NcclCollective, RunsOnRanksOfSeveralThreads) {
  constexpr int kRanks = 3;
  const WithStubNccl stub("", kRanks);
  Gpus gpus;
  const Nccl nccl;
  const nccl::UniqueId id = NcclGroup::new_id(nccl);
  std::vector<std::int32_t> sums(kRanks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank)
    threads.emplace_back([&, rank] {
      NcclGroup group(nccl, {&gpus[rank]}, {.ranks = kRanks, .first = rank, .id = id}, {});
      Running run(group, task(Collective::all_reduce, 1));
      run.write(rank, {rank + 1});
      run.collective.run();
      sums[static_cast<std::size_t>(rank)] = run.read(rank).front();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums, (std::vector<std::int32_t>{6, 6, 6}));
}

TEST(NcclObstacle, SaysWhatNcclDoesNotDoAndWhatNobodyCouldCheck) {
  EXPECT_EQ(nccl_obstacle(task(Collective::all_reduce, 7), 4), "");
  EXPECT_EQ(nccl_obstacle(task(Collective::all_gather, 8), 4), "");
  EXPECT_THAT(nccl_obstacle(task(Collective::all_gather, 7), 4), HasSubstr("equal parts"));
  EXPECT_THAT(nccl_obstacle(task(Collective::reduce_scatter, 2), 4), HasSubstr("2 elements"));
  EXPECT_THAT(nccl_obstacle(task(Collective::barrier, 0), 4), HasSubstr("no barrier"));
  NcclTask in_place = task(Collective::all_to_all, 8);
  in_place.placement = Placement::in_place;
  EXPECT_THAT(nccl_obstacle(in_place, 4), HasSubstr("in place"));
  NcclTask average = task(Collective::all_reduce, 8);
  average.payload.op = ReduceOp::avg;
  EXPECT_EQ(nccl_obstacle(average, 3), "");  // of integers
  average.payload.dtype = Dtype::f32;
  EXPECT_THAT(nccl_obstacle(average, 3), HasSubstr("1/3"));
  EXPECT_EQ(nccl_obstacle(average, 4), "");
}

}  // namespace
}  // namespace collmark
