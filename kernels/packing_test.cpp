/// The packing kernels against a plain memcpy, on the CPU grid.
#include "kernels/packing.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>

#include "collectives/bucket.hpp"
#include "collectives/reduce.hpp"
#include "kernels/cpu_kernels.hpp"
#include "kernels/gpu_packing.hpp"
#include "kernels/on_cpu/grid.hpp"
#include "kernels/on_cpu/observer.hpp"

namespace collmark {
namespace {

constexpr std::size_t kMargin = 64;  // bytes before and behind that nobody may touch
constexpr std::byte kUntouched{0xA5};

struct PackingCase {
  Dtype dtype = Dtype::f32;
  std::vector<std::int64_t> counts = {};
  int shift = 0;       // elements by which tensor i misses a pack: shift x i ...
  int packed_at = 0;   // ... and the bucket
  bool alone = false;  // the bucket is the tensor
  int divisor = 1;
  int blocks = 3, lanes = 4;
  grid::Engine engine = grid::Engine::fibers;
  std::uint64_t seed = 1;
};

/// `size` bytes that begin so many behind a multiple of 16, between margins.
class Memory {
 public:
  Memory(std::size_t size, std::size_t shift)
      : size_(size), bytes_(size + 2 * kMargin + 32, kUntouched) {
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes_.data()) + kMargin;
    data_ = bytes_.data() + kMargin + (16 - begin % 16) % 16 + shift;
  }
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool margins_untouched() const {
    const auto untouched = [](const std::byte* from, const std::byte* to) {
      return std::all_of(from, to, [](std::byte b) { return b == kUntouched; });
    };
    return untouched(bytes_.data(), data_) &&
           untouched(data_ + size_, bytes_.data() + bytes_.size());
  }

 private:
  std::size_t size_;
  std::vector<std::byte> bytes_;
  std::byte* data_;
};

class Packed {
 public:
  explicit Packed(const PackingCase& c) : case_(c), element_(size_of(c.dtype)) {
    std::size_t all = 0;
    for (const std::int64_t count : c.counts) {
      const std::size_t size = static_cast<std::size_t>(count) * element_;
      const std::size_t misses = static_cast<std::size_t>(c.shift) * tensors_.size() * element_;
      tensors_.push_back(std::make_unique<Memory>(size, misses % 16));
      all += size;
    }
    const std::size_t misses = static_cast<std::size_t>(c.packed_at) * element_ % 16;
    bucket_ = std::make_unique<Memory>(all, misses);
    std::byte* packed = bucket_->data();
    for (const auto& tensor : tensors_) {
      const auto count = static_cast<std::int64_t>(tensor->size() / element_);
      parts_.push_back({tensor->data(), c.alone ? tensor->data() : packed, {count}});
      packed += tensor->size();
    }
    Tables unplaced(nullptr);
    (void)packing_of(parts_, c.dtype, c.blocks, unplaced);
    lists_.resize(unplaced.bytes().size() + 16);
    auto* const place = lists_.data() + (16 - reinterpret_cast<std::uintptr_t>(lists_.data()) % 16);
    Tables tables(place);
    what_ = packing_of(parts_, c.dtype, c.blocks, tables);
    std::memcpy(place, tables.bytes().data(), tables.bytes().size());
    what_.divisor = c.divisor;
  }

  void run(const std::string& kernel) {
    const CpuKernel* const found = cpu_kernel(kernel + "_" + std::string(name(case_.dtype)));
    ASSERT_NE(found, nullptr);
    (void)grid::run(
        {.blocks = case_.blocks, .lanes = case_.lanes, .engine = case_.engine, .seed = case_.seed},
        [&] { found->run(&what_); });
  }
  void fill_tensors() {
    std::mt19937_64 random(case_.seed);
    for (const auto& tensor : tensors_)
      for (std::size_t i = 0; i < tensor->size(); ++i)
        tensor->data()[i] = static_cast<std::byte>(random() & 0x3F);  // no NaN, nothing huge
  }
  void forget_tensors() {
    for (const auto& tensor : tensors_) std::fill_n(tensor->data(), tensor->size(), std::byte{0});
  }
  /// The tensors one after the other, as memcpy takes them.
  std::vector<std::byte> joined() const {
    std::vector<std::byte> all;
    for (const auto& tensor : tensors_)
      all.insert(all.end(), tensor->data(), tensor->data() + tensor->size());
    return all;
  }
  std::vector<std::byte> in_bucket() const {
    return {bucket_->data(), bucket_->data() + bucket_->size()};
  }
  bool margins_untouched() const {
    return bucket_->margins_untouched() &&
           std::all_of(tensors_.begin(), tensors_.end(),
                       [](const auto& tensor) { return tensor->margins_untouched(); });
  }
  std::int64_t bytes() const { return static_cast<std::int64_t>(bucket_->size()); }

 private:
  PackingCase case_;
  std::size_t element_;
  std::vector<std::unique_ptr<Memory>> tensors_;
  std::unique_ptr<Memory> bucket_;
  std::vector<TensorPart> parts_;
  std::vector<std::byte> lists_;
  Packing what_;
};

/// There and back, each compared with memcpy.
void expect_a_memcpy(const PackingCase& c) {
  Packed p(c);
  p.fill_tensors();
  const std::vector<std::byte> expected = p.joined();
  p.run("pack_bucket");
  EXPECT_EQ(p.in_bucket(), expected);
  EXPECT_EQ(p.joined(), expected) << "packing changed a tensor";
  p.forget_tensors();
  p.run("unpack_bucket");
  EXPECT_EQ(p.joined(), expected);
  EXPECT_TRUE(p.margins_untouched());
}

/// Of the five buckets of DDP for ResNet-50: together its 161 tensors.
std::vector<std::vector<std::int64_t>> resnet50() {
  const ModelList model = load_model("resnet50");
  std::vector<std::vector<std::int64_t>> buckets;
  for (const Bucket& bucket : plan_buckets(bucket_policy("ddp"), model.tensors)) {
    buckets.emplace_back();
    for (const Piece& piece : bucket.pieces) buckets.back().push_back(piece.count.value);
  }
  return buckets;
}

TEST(Packing, IsAMemcpyForEveryDtypeAndAlignment) {
  for (const Dtype dtype : kDtypes) {
    const int pack = 16 / static_cast<int>(size_of(dtype));
    for (int packed_at = 0; packed_at < pack; ++packed_at)
      for (int shift = 0; shift < pack; ++shift) {
        SCOPED_TRACE(testing::Message()
                     << name(dtype) << " shift " << shift << " bucket at " << packed_at);
        expect_a_memcpy({.dtype = dtype,
                         .counts = {1, 37, 16, 5, 100},
                         .shift = shift,
                         .packed_at = packed_at,
                         .seed = static_cast<std::uint64_t>(shift + 1)});
      }
  }
}

TEST(Packing, IsAMemcpyForAnyNumberOfTensorsBlocksAndElements) {
  const std::vector<std::vector<std::int64_t>> lists{
      {}, {0}, {1}, {1003}, {0, 0, 7, 0}, {4, 4, 4}, {0, 64, 0, 0, 3}, {1, 1, 1, 1, 1, 1, 1}};
  for (const auto& counts : lists)
    for (const int blocks : {1, 2, 7})
      for (const int lanes : {1, 8}) {
        SCOPED_TRACE(testing::Message() << counts.size() << " tensors, " << blocks << " blocks");
        expect_a_memcpy({.counts = counts, .blocks = blocks, .lanes = lanes});
        expect_a_memcpy(
            {.dtype = Dtype::u8, .counts = counts, .shift = 3, .blocks = blocks, .lanes = lanes});
      }
}

TEST(Packing, IsAMemcpyOfTheTensorsOfResNet50) {
  std::size_t tensors = 0;
  for (const auto& counts : resnet50()) {
    tensors += counts.size();
    expect_a_memcpy({.dtype = Dtype::bf16, .counts = counts, .blocks = 5, .lanes = 8});
  }
  EXPECT_EQ(tensors, 161U);
}

TEST(Packing, IsAMemcpyOnRealThreads) {
  for (const int shift : {0, 1})
    expect_a_memcpy({.counts = {1000, 3, 64, 777},
                     .shift = shift,
                     .lanes = 8,
                     .engine = grid::Engine::threads});
}

/// Bytes that each block moves.
class Moves : public Observer {
 public:
  void pass(std::int64_t loads, std::int64_t stores) override {
    const std::lock_guard lock(mutex_);
    loads_ += loads;
    stores_ += stores;
    of_block_[grid::index().block] += loads;
  }
  void transfer(const MovedPart&) override {}
  std::int64_t loads_ = 0, stores_ = 0;
  std::map<int, std::int64_t> of_block_;

 private:
  std::mutex mutex_;
};

TEST(Packing, LoadsAndStoresEveryByteOnceAndBlocksShareThemEqually) {
  for (const auto& counts : resnet50())
    for (const char* const kernel : {"pack_bucket", "unpack_bucket"}) {
      constexpr int kBlocks = 8;
      Packed p({.dtype = Dtype::bf16, .counts = counts, .blocks = kBlocks});
      Moves moves;
      const Watching watching(moves);
      p.run(kernel);
      EXPECT_EQ(moves.loads_, p.bytes());
      EXPECT_EQ(moves.stores_, p.bytes());
      ASSERT_EQ(moves.of_block_.size(), std::size_t{kBlocks});
      for (const auto& [block, bytes] : moves.of_block_)
        EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(p.bytes()) / kBlocks,
                    16.0 * kBlocks)
            << "block " << block;
    }
}

TEST(Packing, AMeanOnTheWayIsTheDivisionOfTheHost) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16})
    for (const int shift : {0, 1})
      for (const bool alone : {false, true}) {
        Packed p({.dtype = dtype,
                  .counts = {5, 0, 131, 40},
                  .shift = shift,
                  .alone = alone,
                  .divisor = 3});
        p.fill_tensors();
        std::vector<std::byte> expected = p.joined();
        average_pass(dtype)(expected.data(), expected.size() / size_of(dtype), 3);
        p.run("pack_bucket");
        EXPECT_EQ(alone ? p.joined() : p.in_bucket(), expected) << name(dtype);
      }
}

TEST(Packing, OfATensorThatIsItsOwnBucketMovesNothing) {
  Packed p({.counts = {1000}, .alone = true});
  Moves moves;
  const Watching watching(moves);
  p.run("pack_bucket");
  p.run("unpack_bucket");
  EXPECT_EQ(moves.loads_ + moves.stores_, 0);
}

}  // namespace
}  // namespace collmark
