#include "bench/cuda_operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "bench/element.hpp"
#include "collectives/error.hpp"
#include "kernels/hang.hpp"

namespace collmark {
namespace {

constexpr int kDataThreads = 256;            // of a block that writes or compares
constexpr int kLooksPerMillisecond = 2'000;  // at a flag that is not there yet; about as a GPU does
constexpr int kHostWaitsLonger = 4;          // times, than ranks wait for each other

std::size_t at(std::int64_t n) { return static_cast<std::size_t>(n); }

std::uint32_t looks_in(std::chrono::milliseconds timeout) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(timeout.count() * kLooksPerMillisecond, 1, std::int64_t{1} << 31));
}

/// The ranks' own waits end first, and say more.
HostPatience longer(HostPatience patience) {
  patience.timeout = patience.timeout * kHostWaitsLonger + std::chrono::seconds(1);
  return patience;
}

std::vector<GpuStream*> streams_of(const GpuCollective& collective) {
  std::vector<GpuStream*> all;
  for (int d = 0; d < collective.devices(); ++d) all.push_back(&collective.stream(d));
  return all;
}

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
  return size_in_bytes(std::max<std::size_t>(1, stretches) * at(most_blocks()) * sizeof(Verdict));
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
  auto* const verdicts = reinterpret_cast<Verdict*>(verdicts_.data());
  const Grid grid = this->grid(stretch.size.value);
  stream_.launch(kernel("compare_values"), grid,
                 Comparison{.values = on_device(stretch, buffer),
                            .blocks = grid.blocks,
                            .verdicts = verdicts + compared_.size() * at(most_blocks())});
  compared_.push_back(grid.blocks);
}

void DeviceData::fetch() {
  const std::size_t size = compared_.size() * at(most_blocks()) * sizeof(Verdict);
  if (size > 0) stream_.copy_to_host(found_->data(), verdicts_.data(), size_in_bytes(size));
  fetched_ = std::exchange(compared_, {});
}

Verdict DeviceData::verdict(std::size_t index) const {
  const auto* const of_block =
      reinterpret_cast<const Verdict*>(found_->data()) + index * at(most_blocks());
  Verdict all{0, 0};
  for (int b = 0; b < fetched_[index]; ++b) {
    const Verdict& one = of_block[b];
    if (one.wrong > 0 && (all.wrong == 0 || one.first < all.first)) all.first = one.first;
    all.wrong += one.wrong;
  }
  return all;
}

CudaOperation::CudaOperation(Gpus& gpus, const What& what)
    : what_(what),
      collective_(gpus, what.task, what.tuning),
      data_(collective_.job().schedule(), what.task.payload) {
  collective_.set_looks(looks_in(what.patience.timeout));
  if (what.hooks.absent_rank) collective_.leave_out(*what.hooks.absent_rank);
  std::vector<std::size_t> stretches(at(collective_.devices()));
  for (int r = 0; r < what.task.ranks; ++r)
    stretches[at(collective_.device_of(r))] += data_.results(r, 0).size();
  for (int d = 0; d < collective_.devices(); ++d) {
    GpuStream& stream = collective_.stream(d);
    on_device_.push_back(std::make_unique<DeviceData>(stream, data_, stretches[at(d)]));
    if (what.evicts) to_walk_.emplace_back(stream.gpu(), 2 * stream.gpu().facts().l2);
  }
  clock_ = std::make_unique<GpuClock>(streams_of(collective_), longer(what.patience));
  settle();
}

bool CudaOperation::idle() const { return clock_->idle(); }

OperationTraits CudaOperation::traits() const {
  return {.synchronising = synchronises(what_.task.collective),
          .keeps_input = what_.task.placement == Placement::out_of_place};
}

void CudaOperation::rewrite_input() {
  ++generation_;
  for (int r = 0; r < what_.task.ranks; ++r)
    for (const auto& stretch : data_.inputs(r, generation_))
      on_device_[at(collective_.device_of(r))]->write(stretch, collective_.input(r));
}

void CudaOperation::run() {
  collective_.run();
  clock_->launched();
  if (what_.hooks.corrupt_rank && what_.hooks.corrupt_call.value_or(runs_) == runs_) spoil();
  ++runs_;
}

/// A hook of the tests: flips a bit of what a rank holds.
void CudaOperation::spoil() {
  const int rank = *what_.hooks.corrupt_rank;
  const auto size =
      what_.task.payload.count.value * static_cast<std::int64_t>(size_of(what_.task.payload.dtype));
  if (rank >= what_.task.ranks || size == 0) return;
  settle();
  GpuStream& stream = collective_.stream(collective_.device_of(rank));
  std::byte* const at_fault = collective_.output(rank) + size / 2;
  std::byte value{};
  stream.copy_to_host(&value, at_fault, Bytes{1});
  settle();
  stream.set(at_fault, static_cast<unsigned char>(value ^ std::byte{1}), Bytes{1});
}

std::chrono::nanoseconds CudaOperation::stop() {
  const Seconds time = clock_->stop();
  settle();
  return std::chrono::round<std::chrono::nanoseconds>(time);
}

void CudaOperation::settle() const {
  collective_.queue_report();
  clock_->finish();
  if (!collective_.gave_up()) return;
  const std::vector<Stuck>& stuck = collective_.fetch_stuck();
  clock_->finish();
  throw Error(ErrorKind::timed_out, hang(stuck));
}

std::optional<Bytes> CudaOperation::count_busiest() {
  rewrite_input();
  if (!collective_.run_counted()) return std::nullopt;
  settle();
  return collective_.busiest();
}

void CudaOperation::evict() {
  for (std::size_t d = 0; d < to_walk_.size(); ++d)
    collective_.stream(static_cast<int>(d))
        .set(to_walk_[d].data(), static_cast<unsigned char>(generation_), to_walk_[d].size());
}

Check CudaOperation::check() const {
  for (int r = 0; r < what_.task.ranks; ++r)
    for (const auto& stretch : data_.results(r, generation_))
      on_device_[at(collective_.device_of(r))]->compare(stretch, collective_.output(r));
  for (const auto& one : on_device_) one->fetch();
  settle();
  Check check;
  std::vector<std::size_t> next(on_device_.size());
  for (int r = 0; r < what_.task.ranks; ++r)
    for (const auto& stretch : data_.results(r, generation_)) {
      const std::size_t device = at(collective_.device_of(r));
      const Verdict verdict = on_device_[device]->verdict(next[device]++);
      if (verdict.wrong > 0 && check.wrong == 0)
        check.first = wrong_element(r, stretch, verdict.first);
      check.wrong += verdict.wrong;
    }
  return check;
}

WrongElement CudaOperation::wrong_element(int rank, const ExactData::Stretch& stretch,
                                          std::int64_t position) const {
  const Dtype dtype = what_.task.payload.dtype;
  const std::size_t element = size_of(dtype);
  const std::int64_t index = stretch.at.value + position;
  std::array<std::byte, 8> got{};
  collective_.stream(collective_.device_of(rank))
      .copy_to_host(got.data(), collective_.output(rank) + at(index) * element,
                    size_in_bytes(element));
  settle();
  const std::byte* const pattern = data_.patterns()[at(stretch.pattern)].data();
  const std::size_t place = at((stretch.phase + position) % kPeriod);
  return {.rank = rank,
          .index = index,
          .got = load(got.data(), dtype),
          .expected = load(pattern + place * element, dtype)};
}

}  // namespace collmark
