#include "kernels/gpu_packing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/gpu_tuning.hpp"

namespace collmark {
namespace {

// A guess to start from, not measured on a GPU.
constexpr std::int64_t kBlockWorthHaving = 16 << 10;  // [bytes]

std::int64_t bytes_in(std::span<const TensorPart> parts, Dtype dtype) {
  Elements count{};
  for (const TensorPart& part : parts) count += part.count;
  return count.value * static_cast<std::int64_t>(size_of(dtype));
}

/// All blocks are on the device at once, so none begins when others have ended.
Grid grid_for(Gpu& gpu, const std::string& symbol, std::int64_t bytes) {
  const int threads = std::min(kKernelThreads, gpu.facts().most_threads);
  const std::int64_t most = std::max(1, gpu.resident_blocks(symbol, threads));
  return {.blocks = static_cast<int>(std::clamp<std::int64_t>(bytes / kBlockWorthHaving, 1, most)),
          .threads = threads};
}

}  // namespace

Packing packing_of(std::span<const TensorPart> parts, Dtype dtype, int blocks, Tables& tables) {
  std::vector<PackedPiece> pieces;
  std::int64_t count = 0;
  for (const TensorPart& part : parts) {
    pieces.push_back({part.tensor, part.packed, count, part.count.value});
    count += part.count.value;
  }
  std::vector<int> first;
  const int pack = 16 / static_cast<int>(size_of(dtype));
  for (int block = 0; block < blocks; ++block) {
    const std::int64_t begin = share({0, count}, block, blocks, pack).offset;
    const auto behind = std::upper_bound(
        pieces.begin(), pieces.end(), begin,
        [](std::int64_t place, const PackedPiece& piece) { return place < piece.offset; });
    first.push_back(std::max(0, static_cast<int>(behind - pieces.begin()) - 1));
  }
  return {.pieces = tables.add(pieces),
          .size = static_cast<int>(pieces.size()),
          .first = tables.add(first),
          .blocks = blocks,
          .count = count};
}

GpuPacking::GpuPacking(GpuStream& stream, Dtype dtype, std::span<const TensorPart> parts)
    : stream_(stream),
      dtype_(dtype),
      copies_(std::any_of(parts.begin(), parts.end(),
                          [](const TensorPart& part) { return part.tensor != part.packed; })),
      grid_(grid_for(stream.gpu(), symbol("pack_bucket"), bytes_in(parts, dtype))) {
  (void)stream.gpu().kernel(symbol("unpack_bucket"));  // not behind a gate: loading may wait for it
  Tables unplaced(nullptr);
  (void)packing_of(parts, dtype, grid_.blocks, unplaced);
  tables_ = GpuMemory(stream.gpu(), {static_cast<std::int64_t>(unplaced.bytes().size())});
  Tables tables(tables_.data());
  what_ = packing_of(parts, dtype, grid_.blocks, tables);
  on_host_ = tables.bytes();
  if (!on_host_.empty()) stream.copy_to_device(tables_.data(), on_host_.data(), tables_.size());
}

Bytes GpuPacking::bytes() const {
  return {what_.count * static_cast<std::int64_t>(size_of(dtype_))};
}

std::string GpuPacking::symbol(std::string_view kernel) const {
  return fmt::format("{}_{}", kernel, name(dtype_));
}

void GpuPacking::launch(std::string_view kernel, int divisor) {
  if (what_.count == 0 || (!copies_ && divisor == 1)) return;
  what_.divisor = divisor;
  stream_.launch(symbol(kernel), grid_, what_);
}

}  // namespace collmark
