#include "kernels/gpu_packing.hpp"

#include <gtest/gtest.h>

#include "kernels/gpu_clock.hpp"
#include "kernels/with_stub.hpp"

namespace collmark {
namespace {

/// Three tensors and their bucket on the stub's device.
class Bucketed {
 public:
  explicit Bucketed(Gpu& gpu)
      : stream_(gpu),
        clock_({&stream_}, {}),
        tensors_(gpu, Bytes{kCount * 4}),
        bucket_(gpu, Bytes{kCount * 4}) {
    for (int i = 0; i < kCount; ++i) given_.push_back(static_cast<float>(i));
    stream_.copy_to_device(tensors_.data(), reinterpret_cast<const std::byte*>(given_.data()),
                           tensors_.size());
  }
  /// The last tensor comes first.
  std::vector<TensorPart> parts() const {
    return {{tensors_.data() + 4 * 400, bucket_.data(), {601}},
            {tensors_.data(), bucket_.data() + 4 * 601, {399}},
            {tensors_.data() + 4 * 399, bucket_.data() + 4 * 1000, {1}}};
  }
  std::vector<float> contents(const GpuMemory& memory) {
    std::vector<float> got(kCount);
    stream_.copy_to_host(reinterpret_cast<std::byte*>(got.data()), memory.data(), memory.size());
    clock_.finish();
    return got;
  }
  static constexpr int kCount = 1001;
  std::vector<float> given_;
  GpuStream stream_;
  GpuClock clock_;
  GpuMemory tensors_, bucket_;
};

TEST(GpuPacking, TakesTensorsThereInListOrderAndBackDivided) {
  const WithStub stub;
  const Gpus gpus;
  Bucketed b(gpus[0]);
  GpuPacking packing(b.stream_, Dtype::f32, b.parts());
  EXPECT_EQ(packing.bytes(), Bytes{4 * 1001});
  packing.pack();
  const std::vector<float> packed = b.contents(b.bucket_);
  EXPECT_EQ(packed[0], 400);
  EXPECT_EQ(packed[600], 1000);
  EXPECT_EQ(packed[601], 0);
  EXPECT_EQ(packed[1000], 399);
  b.stream_.set(b.tensors_.data(), 0, b.tensors_.size());
  packing.unpack(2);
  std::vector<float> expected = b.given_;
  for (float& x : expected) x /= 2;
  EXPECT_EQ(b.contents(b.tensors_), expected);
}

TEST(GpuPacking, OfNothingAndOfTensorsThatStayIsNoLaunch) {
  const WithStub stub("launch_error@1");
  const Gpus gpus;
  Bucketed b(gpus[0]);
  GpuPacking nothing(b.stream_, Dtype::f32, {});
  nothing.pack(3);
  GpuPacking stays(b.stream_, Dtype::f32,
                   std::array{TensorPart{b.tensors_.data(), b.tensors_.data(), {1001}}});
  stays.pack();
  stays.unpack();
  EXPECT_EQ(b.contents(b.tensors_), b.given_);
  EXPECT_ANY_THROW(stays.pack(2)) << "the first launch is refused";
}

TEST(GpuPacking, HasMoreBlocksForMoreBytesAsFarAsTheyFit) {
  const WithStub stub;
  const Gpus gpus;
  GpuStream stream(gpus[0]);
  const auto blocks = [&](std::int64_t count) {
    return GpuPacking(stream, Dtype::u8, std::array{TensorPart{nullptr, nullptr, {count}}})
        .grid()
        .blocks;
  };
  EXPECT_EQ(blocks(100), 1);
  EXPECT_EQ(blocks(64 << 10), 4);
  EXPECT_EQ(blocks(64 << 20), 32) << "4 multiprocessors of 8 blocks";
}

}  // namespace
}  // namespace collmark
