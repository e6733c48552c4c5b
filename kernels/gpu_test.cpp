#include "kernels/gpu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "collectives/catalogue.hpp"
#include "kernels/data.hpp"
#include "kernels/image.hpp"
#include "kernels/with_stub.hpp"

namespace collmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// What opening all GPUs says, and of which kind it is.
struct Refusal {
  ErrorKind kind = ErrorKind::broken;
  std::string what;
};
Refusal refusal() {
  try {
    const Gpus gpus;
  } catch (const Error& e) {
    return {e.kind(), e.what()};
  }
  return {};
}

void wait_until_passed(const GpuEvent& event) {
  while (!event.passed()) std::this_thread::yield();
}

/// Waits for all that the stream was given.
void finish(GpuStream& stream) {
  const GpuEvent end(stream.gpu());
  stream.record(end);
  wait_until_passed(end);
}

class RefusedDriver : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(RefusedDriver, IsAbsentAndSaysWhyAndWhatWouldHelpInOneLine) {
  const auto& [fault, words] = GetParam();
  const WithStub stub(fault);
  if (fault == "old_driver" && kernel_image_version() == 0)
    GTEST_SKIP() << "built without nvcc: no driver is too old";
  const Refusal said = refusal();
  EXPECT_EQ(said.kind, ErrorKind::absent) << said.what;
  EXPECT_THAT(said.what, AllOf(HasSubstr(words), Not(HasSubstr("\n"))));
}

INSTANTIATE_TEST_SUITE_P(All, RefusedDriver,
                         testing::Values(std::pair("no_device", "nvidia-smi"),
                                         std::pair("old_driver", "CUDA 11.4"),
                                         std::pair("no_code", "sm_90")),
                         [](const auto& test) { return std::string(test.param.first); });

TEST(Driver, SaysOfWhatCannotRunHereWhatWouldHelp) {
  const WithStub stub;
  const Driver driver;
  for (const auto& [status, help] :
       {std::pair{cu::Status::capture_unsupported, "makes no graph"},
        {cu::Status::capture_invalidated, "makes no graph"},
        {cu::Status::compatibility_not_supported, "LD_LIBRARY_PATH"},
        {cu::Status::mps_connection_failed, "nvidia-cuda-mps-control"},
        {cu::Status::mps_server_not_ready, "nvidia-cuda-mps-control"}}) {
    try {
      driver.check(status, "trying");
      FAIL() << help;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::absent);
      EXPECT_THAT(e.what(), AllOf(HasSubstr("trying: "), HasSubstr(help)));
    }
  }
}

TEST(Driver, ThatIsNotThereIsAbsent) {
  try {
    const Driver driver("/no/such/libcuda.so.1");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::absent);
    EXPECT_THAT(e.what(), HasSubstr("no CUDA driver: /no/such/libcuda.so.1"));
  }
}

TEST(Driver, ThatLacksAFunctionIsAbsent) {
  try {
    const Driver driver("libm.so.6");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::absent);
    EXPECT_THAT(e.what(), HasSubstr("cuInit"));
  }
}

TEST(Gpus, OfTheStubSayThatTheyAreNone) {
  const WithStub stub("", 3);
  const Gpus gpus;
  ASSERT_EQ(gpus.size(), 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(gpus[i].facts().name, "collmark stub (CPU, no GPU)");
  EXPECT_NE(gpus[0].facts().uuid, gpus[1].facts().uuid);
  EXPECT_NE(gpus[0].facts().pci, gpus[1].facts().pci);
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
        verdicts_(gpu, Bytes{kBlocks * std::int64_t{sizeof(Verdict)}}) {
    std::vector<std::byte> pattern;
    for (int i = 0; i < kPeriod; ++i) pattern.push_back(static_cast<std::byte>(i * 7));
    stream_.copy_to_device(pattern_.data(), pattern.data(), pattern_.size());
    finish(stream_);
  }
  void write(std::int64_t phase) {
    stream_.launch("write_values_1", {kBlocks, 8}, Fill{stretch(phase), kBlocks});
  }
  void spoil(std::int64_t position) { stream_.set(buffer_.data() + position, 0xFF, Bytes{1}); }
  Verdict compare(std::int64_t phase) {
    stream_.launch(
        "compare_values_1", {kBlocks, 8},
        Comparison{stretch(phase), kBlocks, reinterpret_cast<Verdict*>(verdicts_.data())});
    std::vector<Verdict> all(kBlocks);
    stream_.copy_to_host(reinterpret_cast<std::byte*>(all.data()), verdicts_.data(),
                         verdicts_.size());
    finish(stream_);
    Verdict sum{0, kCount};
    for (const Verdict& one : all) {
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
  const Verdict verdict = values.compare(5);
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
