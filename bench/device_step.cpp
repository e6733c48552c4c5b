#include "bench/device_step.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "bench/element.hpp"
#include "collectives/error.hpp"
#include "collectives/index.hpp"

namespace collmark {
namespace {

constexpr std::size_t kPhases = 3;  // of a bucket

}  // namespace

DeviceStep::DeviceStep(DeviceStepJob& job, const Options& options) : job_(job), options_(options) {
  for (const StepLayout::Arena& arena : job.work().layout.arenas) {
    const auto [payload, times] = payload_of(job.work(), arena);
    data_.emplace_back(job.work().schedule, payload, times);
  }
  for (const ExactData& data : data_) {
    std::vector<std::size_t> stretches(at(job.devices()));
    for (int r = 0; r < job.ranks(); ++r)
      stretches[at(job.device_of(r))] += data.results(r, 0).size();
    auto& on_device = on_device_.emplace_back();
    for (int d = 0; d < job.devices(); ++d)
      on_device.push_back(
          std::make_unique<DeviceData>(*job.streams()[at(d)], data, stretches[at(d)]));
  }
  for (GpuStream* stream : job.streams()) {
    Events& events = events_.emplace_back();
    for (std::size_t i = 0; i < 1 + kPhases * job.work().buckets.size(); ++i)
      events.push_back(std::make_unique<GpuEvent>(stream->gpu()));
  }
  HostPatience patience = options.patience;
  patience.watch = [&job] {
    for (std::size_t b = 0; b < job.work().buckets.size(); ++b) job.all_reduce(b).watch();
  };
  clock_ = std::make_unique<GpuClock>(job.streams(), std::move(patience));
  settle();
}

void DeviceStep::rewrite_input() {
  ++generation_;
  for (std::size_t a = 0; a < data_.size(); ++a)
    for (int r = 0; r < job_.ranks(); ++r)
      for (const auto& stretch : data_[a].inputs(r, generation_))
        on_device_[a][at(job_.device_of(r))]->write(stretch, job_.arena(r, a));
}

void DeviceStep::mark(std::size_t event) {
  for (std::size_t d = 0; d < events_.size(); ++d) job_.streams()[d]->record(*events_[d][event]);
  clock_->launched();
}

void DeviceStep::run() {
  if (to_read_) settle();
  const StepWork& work = job_.work();
  mark(0);
  for (std::size_t b = 0; b < work.buckets.size(); ++b) {
    for (int d = 0; d < job_.devices(); ++d)
      job_.packing(b, d).pack(work.divisor_of(Mean::before_sum));
    mark(kPhases * b + 1);
    job_.all_reduce(b).run();
    mark(kPhases * b + 2);
    for (int d = 0; d < job_.devices(); ++d)
      job_.packing(b, d).unpack(work.divisor_of(Mean::after_sum));
    mark(kPhases * b + 3);
  }
  to_read_ = true;
  const TestHooks& hooks = options_.hooks;
  if (hooks.corrupt_rank && hooks.corrupt_call.value_or(runs_) == runs_) spoil();
  ++runs_;
}

/// A hook of the tests: flips a bit of a rank's first gradient in the first bucket.
void DeviceStep::spoil() {
  const int rank = *options_.hooks.corrupt_rank;
  if (rank >= job_.ranks()) return;
  settle();
  GpuStream& stream = *job_.streams()[at(job_.device_of(rank))];
  std::byte* const at_fault = job_.gradient(rank, job_.work().buckets.front().pieces.front());
  std::byte value{};
  stream.copy_to_host(&value, at_fault, Bytes{1});
  clock_->finish();
  stream.set(at_fault, static_cast<unsigned char>(value ^ std::byte{1}), Bytes{1});
}

std::chrono::nanoseconds DeviceStep::stop() {
  const Seconds time = clock_->stop();
  settle();
  return std::chrono::round<std::chrono::nanoseconds>(time);
}

void DeviceStep::settle() const {
  const std::size_t buckets = job_.work().buckets.size();
  for (std::size_t b = 0; b < buckets; ++b) job_.all_reduce(b).queue_report();
  clock_->finish();
  for (std::size_t b = 0; b < buckets; ++b) {  // those after the first give up because it did
    DeviceCollective& all_reduce = job_.all_reduce(b);
    if (!all_reduce.gave_up()) continue;
    all_reduce.queue_complaint();
    clock_->finish();
    if (const std::string complaint = all_reduce.complaint(); !complaint.empty())
      throw Error(ErrorKind::timed_out, "in bucket " + std::to_string(b) + ", " + complaint);
  }
  if (std::exchange(to_read_, false)) read_times();
}

void DeviceStep::let_go() noexcept {
  try {
    clock_->let_go();
  } catch (const Error&) {  // idle() will say so
  }
}

bool DeviceStep::idle() const {
  try {
    return clock_->idle();
  } catch (const Error&) {  // it is lost
    return false;
  }
}

/// All events of the last run have passed.
void DeviceStep::read_times() const {
  const auto between = [&](std::size_t device, std::size_t first, std::size_t last) {
    return std::chrono::round<Nanoseconds>(events_[device][last]->since(*events_[device][first]));
  };
  std::size_t slowest = 0;
  const std::size_t last = events_.front().size() - 1;
  for (std::size_t d = 1; d < events_.size(); ++d)
    if (between(d, 0, last) > between(slowest, 0, last)) slowest = d;
  for (std::size_t first = 0; first < last; first += kPhases)
    times_.push_back({.pack = between(slowest, first, first + 1),
                      .wire = between(slowest, first + 1, first + 2),
                      .unpack = between(slowest, first + 2, first + 3)});
}

Check DeviceStep::check() const {
  for (std::size_t a = 0; a < data_.size(); ++a)
    for (int r = 0; r < job_.ranks(); ++r)
      for (const auto& stretch : data_[a].results(r, generation_))
        on_device_[a][at(job_.device_of(r))]->compare(stretch, job_.arena(r, a));
  for (const auto& devices : on_device_)
    for (const auto& one : devices) one->fetch();
  settle();
  Check check;
  for (std::size_t a = 0; a < data_.size(); ++a) {
    std::vector<std::size_t> next(at(job_.devices()));
    for (int r = 0; r < job_.ranks(); ++r)
      for (const auto& stretch : data_[a].results(r, generation_)) {
        const std::size_t device = at(job_.device_of(r));
        const WrongCount verdict = on_device_[a][device]->verdict(next[device]++);
        if (verdict.wrong > 0 && check.wrong == 0)
          check.first = wrong_element(r, a, stretch, verdict.first);
        check.wrong += verdict.wrong;
      }
  }
  return check;
}

WrongElement DeviceStep::wrong_element(int rank, std::size_t arena,
                                       const ExactData::Stretch& stretch,
                                       std::int64_t position) const {
  const Dtype dtype = job_.work().layout.arenas[arena].dtype;
  const std::size_t element = size_of(dtype);
  const std::int64_t index = stretch.at.value + position;
  std::array<std::byte, 8> got{};
  job_.streams()[at(job_.device_of(rank))]->copy_to_host(
      got.data(), job_.arena(rank, arena) + at(index) * element,
      Bytes{static_cast<std::int64_t>(element)});
  clock_->finish();
  const std::byte* const pattern = data_[arena].patterns()[at(stretch.pattern)].data();
  const std::size_t place = at((stretch.phase + position) % kPeriod);
  return {.rank = rank,
          .index = elements_before(job_.work(), arena).value + index,
          .got = load(got.data(), dtype),
          .expected = load(pattern + place * element, dtype)};
}

void DeviceStep::evict() {
  throw Error(ErrorKind::broken, "a step is measured with touched gradients only");
}

}  // namespace collmark
