#include "kernels/gpu.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "collectives/catalogue.hpp"
#include "kernels/data.hpp"
#include "kernels/with_stub.hpp"

namespace collmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

void wait_until_passed(const GpuEvent& event) {
  while (!event.passed()) std::this_thread::yield();
}

/// Waits for all that the stream was given.
void finish(GpuStream& stream) {
  const GpuEvent end(stream.gpu());
  stream.record(end);
  wait_until_passed(end);
}

TEST(Gpus, OfTheStubSayThatTheyAreNone) {
  const WithStub stub("", 3);
  const Gpus gpus;
  ASSERT_EQ(gpus.size(), 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(gpus[i].facts().name, "collmark stub (CPU, no GPU)");
  EXPECT_NE(gpus[0].facts().uuid, gpus[1].facts().uuid);
  EXPECT_NE(gpus[0].facts().pci, gpus[1].facts().pci);
}

/// As a display's beside one for computing, or one that another process holds alone.
TEST(Gpus, OneThatCannotBeUsedIsLeftOutAndNamed) {
  for (const auto& [fault, words] :
       {std::pair{"no_code@2", "sm_90"}, {"device_in_use@2", "Compute Mode"}}) {
    const WithStub stub(fault, 3);
    Gpus gpus;
    ASSERT_EQ(gpus.size(), 2);
    EXPECT_EQ(gpus[1].facts().ordinal, 2);
    ASSERT_EQ(gpus.left_out().size(), 1u);
    EXPECT_THAT(gpus.left_out().front(), AllOf(HasSubstr("GPU 1"), HasSubstr(words)));
    EXPECT_EQ(gpus.connect(2), "");
  }
}

TEST(Gpus, NoneThatCanBeUsedIsAbsent) {
  const WithStub stub("device_in_use", 2);
  try {
    const Gpus gpus;
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::absent);
    EXPECT_THAT(e.what(), HasSubstr("GPU 0"));
  }
}

TEST(Gpu, ThatIsNotMadeDoesNotHoldItsContext) {
  const WithStub stub("no_code@2", 2);
  const Gpus gpus;
  void* const library = dlopen(std::getenv("COLLMARK_CUDA_DRIVER"), RTLD_NOW);
  auto* const retained = reinterpret_cast<int (*)(int)>(dlsym(library, "collmark_stub_retained"));
  EXPECT_EQ(retained(0), 1);
  EXPECT_EQ(retained(1), 0);
  dlclose(library);
}

TEST(Gpus, ThatCannotReachEachOtherAreNamed) {
  const WithStub stub("no_peer_access", 2);
  Gpus gpus;
  EXPECT_EQ(gpus.connect(1), "");
  EXPECT_THAT(gpus.connect(2), AllOf(HasSubstr("GPU 0"), HasSubstr("GPU 1")));
}

TEST(GpuMemory, ThatIsFullIsUnsupportedAndNamesDeviceAndSize) {
  const WithStub stub("out_of_memory@2");
  const Gpus gpus;
  const GpuMemory first(gpus[0], Bytes{64});
  try {
    const GpuMemory second(gpus[0], Bytes{4096});
    FAIL();
  } catch (const Unsupported& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("GPU 0"), HasSubstr("4096 B")));
  }
}

TEST(GpuMemory, IsGivenBack) {
  const WithStub stub;
  const Gpus gpus;
  const Bytes before = gpus[0].free_memory();
  {
    GpuMemory a(gpus[0], Bytes{1000});
    const GpuMemory b = std::move(a);
    EXPECT_EQ(a.data(), nullptr);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(gpus[0].free_memory(), before - Bytes{1000});
  }
  EXPECT_EQ(gpus[0].free_memory(), before);
}

TEST(Gpus, HaveAsMuchFreeMemoryAsTheFullestOfThoseInUse) {
  const WithStub stub("", 3);
  const Gpus gpus;
  const Bytes before = gpus[0].free_memory();
  const GpuMemory second(gpus[1], Bytes{1000}), third(gpus[2], Bytes{4000});
  EXPECT_EQ(gpus.free_memory(1), before);
  EXPECT_EQ(gpus.free_memory(2), before - Bytes{1000});
  EXPECT_EQ(gpus.free_memory(3), before - Bytes{4000});
}

/// A pattern written and compared on the device: what the verdicts of all blocks come to.
class Values {
 public:
  explicit Values(Gpu& gpu)
      : stream_(gpu),
        pattern_(gpu, Bytes{kPeriod}),
        buffer_(gpu, Bytes{kCount}),
        verdicts_(gpu, Bytes{kBlocks * std::int64_t{sizeof(WrongCount)}}) {
    std::vector<std::byte> pattern;
    for (int i = 0; i < kPeriod; ++i) pattern.push_back(static_cast<std::byte>(i * 7));
    stream_.copy_to_device(pattern_.data(), pattern.data(), pattern_.size());
    finish(stream_);
  }
  void write(std::int64_t phase) {
    stream_.launch("write_values_1", {kBlocks, 8}, Fill{stretch(phase), kBlocks});
  }
  void spoil(std::int64_t position) { stream_.set(buffer_.data() + position, 0xFF, Bytes{1}); }
  WrongCount compare(std::int64_t phase) {
    stream_.launch(
        "compare_values_1", {kBlocks, 8},
        Comparison{stretch(phase), kBlocks, reinterpret_cast<WrongCount*>(verdicts_.data())});
    std::vector<WrongCount> all(kBlocks);
    stream_.copy_to_host(reinterpret_cast<std::byte*>(all.data()), verdicts_.data(),
                         verdicts_.size());
    finish(stream_);
    WrongCount sum{0, kCount};
    for (const WrongCount& one : all) {
      sum.wrong += one.wrong;
      if (one.wrong > 0) sum.first = std::min(sum.first, one.first);
    }
    return sum;
  }

  static constexpr int kBlocks = 3, kPeriod = 13;
  static constexpr std::int64_t kCount = 1001;

 private:
  Stretch stretch(std::int64_t phase) {
    return {buffer_.data(), kCount, pattern_.data(), kPeriod, phase};
  }
  GpuStream stream_;
  GpuMemory pattern_, buffer_, verdicts_;
};

TEST(GpuStream, ValuesWrittenAreFoundAndSpoiltOnesCountedWithTheirPlace) {
  const WithStub stub;
  const Gpus gpus;
  Values values(gpus[0]);
  values.write(5);
  EXPECT_EQ(values.compare(5).wrong, 0);
  EXPECT_GT(values.compare(6).wrong, 900);
  values.spoil(700);
  values.spoil(17);
  const WrongCount verdict = values.compare(5);
  EXPECT_EQ(verdict.wrong, 2);
  EXPECT_EQ(verdict.first, 17);
}

TEST(GpuStream, WaitsForAWordOfTheHost) {
  const WithStub stub;
  const Gpus gpus;
  const PinnedMemory word(gpus[0], Bytes{4});
  GpuStream stream(gpus[0]);
  const GpuEvent start(gpus[0]), end(gpus[0]);
  stream.record(start);
  stream.wait_for(word.on_device(), 7);
  stream.record(end);
  wait_until_passed(start);
  std::atomic_ref flag(*reinterpret_cast<std::uint32_t*>(word.data()));
  flag.store(6, std::memory_order_release);
  EXPECT_FALSE(end.passed());
  flag.store(7, std::memory_order_release);
  wait_until_passed(end);
  EXPECT_GT(end.since(start).count(), 0.0);
}

TEST(GpuStream, AGridThatDoesNotFitIsRefused) {
  const WithStub stub("small_device");
  const Gpus gpus;
  EXPECT_EQ(gpus[0].resident_blocks("write_values_1", 8), 1);
  GpuStream stream(gpus[0]);
  EXPECT_THROW(stream.launch_together("write_values_1", {2, 8}, Fill{}), Unsupported);
  stream.launch_together("write_values_1", {1, 8}, Fill{.values = {.pattern = nullptr}});
  finish(stream);
}

TEST(GpuStream, ARefusedLaunchIsUnsupported) {
  const WithStub stub("launch_error@2");
  const Gpus gpus;
  GpuStream stream(gpus[0]);
  stream.launch("write_values_1", {1, 8}, Fill{});
  EXPECT_THROW(stream.launch("write_values_1", {1, 8}, Fill{}), Unsupported);
  finish(stream);
}

TEST(GpuStream, AfterACrashTheDeviceIsLost) {
  const WithStub stub("crash");
  const Gpus gpus;
  GpuStream stream(gpus[0]);
  stream.launch("write_values_1", {1, 8}, Fill{});
  try {
    finish(stream);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::lost) << e.what();
    EXPECT_THAT(e.what(), HasSubstr("GPU 0"));
  }
}

TEST(Gpu, AKernelThatDoesNotExistIsOurBug) {
  const WithStub stub;
  const Gpus gpus;
  try {
    (void)gpus[0].kernel("no_such_kernel_f32");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::broken);
    EXPECT_THAT(e.what(), HasSubstr("no_such_kernel_f32"));
  }
}

}  // namespace
}  // namespace collmark
