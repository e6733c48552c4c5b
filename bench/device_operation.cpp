#include "bench/device_operation.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "bench/element.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"
#include "collectives/index.hpp"

namespace collmark {
namespace {

HostPatience watching(HostPatience patience, DeviceCollective& collective) {
  patience.watch = [&collective] { collective.watch(); };
  return patience;
}

std::vector<GpuStream*> streams_of(const DeviceCollective& collective) {
  std::vector<GpuStream*> all;
  for (int d = 0; d < collective.devices(); ++d) all.push_back(&collective.stream(d));
  return all;
}

}  // namespace

template <class Visit>
void DeviceOperation::for_each_rank(Visit visit) const {
  const auto [first, count] = collective_.ranks();
  for (int r = first; r < first + count; ++r) visit(r, at(collective_.device_of(r)));
}

DeviceOperation::DeviceOperation(DeviceCollective& collective, const What& what)
    : collective_(collective), what_(what), data_(collective.shape(), what.payload) {
  std::vector<std::size_t> stretches(at(collective_.devices()));
  for_each_rank([&](int r, std::size_t d) { stretches[d] += data_.results(r, 0).size(); });
  for (int d = 0; d < collective_.devices(); ++d) {
    GpuStream& stream = collective_.stream(d);
    on_device_.push_back(std::make_unique<DeviceData>(stream, data_, stretches[at(d)]));
    if (what.evicts) to_walk_.emplace_back(stream.gpu(), 2 * stream.gpu().facts().l2);
  }
  clock_ =
      std::make_unique<GpuClock>(streams_of(collective_), watching(what.patience, collective_));
  settle();
}

void DeviceOperation::let_go() noexcept {
  try {
    clock_->let_go();
  } catch (const Error&) {  // idle() will say so
  }
  graphs_
      .clear();  // one that is under way is freed when it has ended (CUDA Driver API, cuGraphExecDestroy)
}

bool DeviceOperation::idle() const {
  try {
    return clock_->idle();
  } catch (const Error&) {  // it is lost
    return false;
  }
}

OperationTraits DeviceOperation::traits() const {
  return {.synchronising = synchronises(collective_.shape().collective),
          .keeps_input = what_.placement == Placement::out_of_place};
}

void DeviceOperation::rewrite_input() {
  ++generation_;
  std::vector<int> launches(on_device_.size());
  for_each_rank([&](int r, std::size_t d) {
    for (const auto& stretch : data_.inputs(r, generation_)) {
      on_device_[d]->write(stretch, collective_.input(r));
      ++launches[d];
    }
  });
  clock_->launched(*std::max_element(launches.begin(), launches.end()));
}

void DeviceOperation::capture() {
  settle();
  try {
    make_graphs();
    replay();
  } catch (...) {
    // NCCL does not end a communicator before a graph with its work is gone, captured to its end or not.
    for (GpuStream* stream : streams_of(collective_)) stream->drop_capture();
    graphs_.clear();
    throw;
  }
}

void DeviceOperation::make_graphs() {
  std::vector<std::unique_ptr<GpuGraph>> graphs;
  for (GpuStream* stream : streams_of(collective_)) stream->begin_capture();
  collective_.run();
  for (GpuStream* stream : streams_of(collective_)) graphs.push_back(stream->end_capture());
  graphs_ = std::move(graphs);
  for (std::size_t d = 0; d < graphs_.size(); ++d)
    collective_.stream(static_cast<int>(d)).upload(*graphs_[d]);
  if (graphs_.size() > 1) at_once_ = std::make_unique<AtOnce>(collective_.devices());
}

/// The launch of a graph may wait for what is under way, and a device for the others: each is launched by a thread of its own.
///   Source  NCCL User Guide, Using NCCL with CUDA Graphs: with several GPUs in a process a launch may block
void DeviceOperation::replay() {
  const auto launch = [this](int device) {
    collective_.stream(device).replay(*graphs_[at(device)]);
  };
  if (graphs_.size() > 1)
    at_once_->run(launch);
  else if (!graphs_.empty())
    launch(0);
}

void DeviceOperation::run() {
  if (graphs_.empty()) collective_.run();
  replay();
  clock_->launched();
  if (what_.hooks.corrupt_rank && what_.hooks.corrupt_call.value_or(runs_) == runs_) spoils_ = true;
  ++runs_;
}

/// A hook of the tests: flips a bit of what a rank holds, once nobody waits for the rank any more.
void DeviceOperation::spoil() {
  const int rank = *what_.hooks.corrupt_rank;
  const std::int64_t size = what_.payload.size().value;
  const auto [first, count] = collective_.ranks();
  if (rank < first || rank >= first + count || size == 0) return;
  GpuStream& stream = collective_.stream(collective_.device_of(rank));
  std::byte* const at_fault = collective_.output(rank) + size / 2;
  std::byte value{};
  stream.copy_to_host(&value, at_fault, Bytes{1});
  settle();
  stream.set(at_fault, static_cast<unsigned char>(value ^ std::byte{1}), Bytes{1});
}

std::chrono::nanoseconds DeviceOperation::stop() {
  const Seconds time = clock_->stop();
  settle();
  if (std::exchange(spoils_, false)) spoil();
  return std::chrono::round<std::chrono::nanoseconds>(time);
}

void DeviceOperation::settle() const { collmark::settle(collective_, *clock_); }

void DeviceOperation::evict() {
  for (std::size_t d = 0; d < to_walk_.size(); ++d)
    collective_.stream(static_cast<int>(d))
        .set(to_walk_[d].data(), static_cast<unsigned char>(generation_), to_walk_[d].size());
}

Check DeviceOperation::check() const {
  for_each_rank([&](int r, std::size_t d) {
    for (const auto& stretch : data_.results(r, generation_))
      on_device_[d]->compare(stretch, collective_.output(r));
  });
  for (const auto& one : on_device_) one->fetch();
  settle();
  Check check;
  std::vector<std::size_t> next(on_device_.size());
  for_each_rank([&](int r, std::size_t d) {
    for (const auto& stretch : data_.results(r, generation_)) {
      const WrongCount verdict = on_device_[d]->verdict(next[d]++);
      if (verdict.wrong > 0 && check.wrong == 0)
        check.first = wrong_element(r, stretch, verdict.first);
      check.wrong += verdict.wrong;
    }
  });
  return check;
}

WrongElement DeviceOperation::wrong_element(int rank, const ExactData::Stretch& stretch,
                                            std::int64_t position) const {
  const Dtype dtype = what_.payload.dtype;
  const std::size_t element = size_of(dtype);
  const std::int64_t index = stretch.at.value + position;
  std::array<std::byte, 8> got{};
  collective_.stream(collective_.device_of(rank))
      .copy_to_host(got.data(), collective_.output(rank) + at(index) * element,
                    Bytes{static_cast<std::int64_t>(element)});
  settle();
  const std::byte* const pattern = data_.patterns()[at(stretch.pattern)].data();
  const std::size_t place = at((stretch.phase + position) % kPeriod);
  return {.rank = rank,
          .index = index,
          .got = load(got.data(), dtype),
          .expected = load(pattern + place * element, dtype)};
}

}  // namespace collmark
