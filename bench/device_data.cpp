#include "bench/device_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collectives/index.hpp"

namespace collmark {
namespace {

constexpr int kDataThreads = 256;  // of a block that writes or compares

std::vector<std::byte> joined(const std::vector<std::vector<std::byte>>& lists) {
  std::vector<std::byte> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

Bytes size_in_bytes(std::size_t n) { return {static_cast<std::int64_t>(n)}; }

}  // namespace

DeviceData::DeviceData(GpuStream& stream, const ExactData& data, std::size_t stretches)
    : stream_(stream),
      element_(data.patterns().front().size() / kPeriod),
      on_host_(joined(data.patterns())),
      found_(std::make_unique<PinnedMemory>(stream.gpu(), verdict_bytes(stretches))),
      patterns_(stream.gpu(), size_in_bytes(on_host_.size())),
      verdicts_(stream.gpu(), verdict_bytes(stretches)) {
  stream.copy_to_device(patterns_.data(), on_host_.data(), patterns_.size());
}

Bytes DeviceData::verdict_bytes(std::size_t stretches) const {
  return size_in_bytes(std::max<std::size_t>(1, stretches) * at(most_blocks()) *
                       sizeof(WrongCount));
}

int DeviceData::most_blocks() const { return 2 * stream_.gpu().facts().multiprocessors; }

Grid DeviceData::grid(std::int64_t count) const {
  const GpuFacts& facts = stream_.gpu().facts();
  const int threads = std::min(kDataThreads, facts.most_threads);
  const std::int64_t useful = (count + threads - 1) / threads;
  return {.blocks = static_cast<int>(std::clamp<std::int64_t>(useful, 1, most_blocks())),
          .threads = threads};
}

std::string DeviceData::kernel(std::string_view name) const {
  return fmt::format("{}_{}", name, element_);
}

Stretch DeviceData::on_device(const ExactData::Stretch& stretch, std::byte* buffer) const {
  return {.begin = buffer + at(stretch.at.value) * element_,
          .count = stretch.size.value,
          .pattern = patterns_.data() + at(stretch.pattern) * element_ * kPeriod,
          .period = kPeriod,
          .phase = stretch.phase};
}

void DeviceData::write(const ExactData::Stretch& stretch, std::byte* buffer) {
  const Grid grid = this->grid(stretch.size.value);
  stream_.launch(kernel("write_values"), grid,
                 Fill{.values = on_device(stretch, buffer), .blocks = grid.blocks});
}

void DeviceData::compare(const ExactData::Stretch& stretch, std::byte* buffer) {
  auto* const verdicts = reinterpret_cast<WrongCount*>(verdicts_.data());
  const Grid grid = this->grid(stretch.size.value);
  stream_.launch(kernel("compare_values"), grid,
                 Comparison{.values = on_device(stretch, buffer),
                            .blocks = grid.blocks,
                            .verdicts = verdicts + compared_.size() * at(most_blocks())});
  compared_.push_back(grid.blocks);
}

void DeviceData::fetch() {
  const std::size_t size = compared_.size() * at(most_blocks()) * sizeof(WrongCount);
  if (size > 0) stream_.copy_to_host(found_->data(), verdicts_.data(), size_in_bytes(size));
  fetched_ = std::exchange(compared_, {});
}

WrongCount DeviceData::verdict(std::size_t index) const {
  const auto* const of_block =
      reinterpret_cast<const WrongCount*>(found_->data()) + index * at(most_blocks());
  WrongCount all{0, 0};
  for (int b = 0; b < fetched_[index]; ++b) {
    const WrongCount& one = of_block[b];
    if (one.wrong > 0 && (all.wrong == 0 || one.first < all.first)) all.first = one.first;
    all.wrong += one.wrong;
  }
  return all;
}

}  // namespace collmark
