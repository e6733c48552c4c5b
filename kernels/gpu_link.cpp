#include "kernels/gpu_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collectives/error.hpp"
#include "collectives/index.hpp"

namespace collmark {
namespace {

constexpr int kFewestTrips = 20, kMostTrips = 1'000;
constexpr int kHopReadings = 11, kCopyReadings = 5;
constexpr Seconds kReading{2e-3};  // of several trips or copies
constexpr int kMostCopies = 64, kCopiesTogether = 5;
constexpr int kEmptyKernels = 100;        // as many as wait behind a closed gate
constexpr std::int64_t kPeriod = 4093;    // bytes of the pattern: a prime
constexpr unsigned char kNowhere = 0xFF;  // a byte that the pattern does not have
constexpr int kDataThreads = 256;

template <class T>
Bytes bytes_of(std::size_t count = 1) {
  return {static_cast<std::int64_t>(sizeof(T) * count)};
}

Seconds median(std::vector<Seconds> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

std::vector<std::byte> pattern() {
  std::vector<std::byte> bytes;
  for (std::int64_t i = 0; i < kPeriod; ++i) bytes.push_back(static_cast<std::byte>(i * 7 % 127));
  return bytes;
}

Grid data_grid(const Gpu& gpu) {
  return {.blocks = 2 * gpu.facts().multiprocessors,
          .threads = std::min(kDataThreads, gpu.facts().most_threads)};
}

}  // namespace

GpuLink::GpuLink(Gpu& from, Gpu& to, const Options& options)
    : from_(from),
      to_(to),
      options_(options),
      pattern_(pattern()),
      found_(at(data_grid(to).blocks)),
      from_stream_(from),
      to_stream_(to),
      from_pattern_(from, Bytes{kPeriod}),
      source_(from, options.size),
      to_pattern_(to, Bytes{kPeriod}),
      copy_(to, options.size),
      verdicts_(to, bytes_of<WrongCount>(found_.size())),
      reading_(to_stream_, Dtype::u8,
               std::array{TensorPart{source_.data(), copy_.data(), {options.size.value}}}),
      both_({&from_stream_, &to_stream_}, options.patience.longer()),
      reader_({&to_stream_}, options.patience.longer()) {
  for (Gpu* gpu :
       {&from_, &to_})  // loading one may wait for the device, which may wait for the gate
    for (const char* const kernel : {"flag_hops", "low_latency_hops", "word_hops"})
      (void)gpu->kernel(kernel);
  for (const std::size_t end : {0, 1}) {
    GpuStream& stream = end == 0 ? from_stream_ : to_stream_;
    boxes_[end] = GpuMemory(stream.gpu(), bytes_of<Mailbox>());
    told_[end] = GpuMemory(stream.gpu(), bytes_of<Told>());
    stream.set(boxes_[end].data(), 0, boxes_[end].size());
    stream.set(told_[end].data(), 0, told_[end].size());
  }
  from_stream_.copy_to_device(from_pattern_.data(), pattern_.data(), from_pattern_.size());
  to_stream_.copy_to_device(to_pattern_.data(), pattern_.data(), to_pattern_.size());
  const Grid grid = data_grid(from);
  from_stream_.launch("write_values_1", grid,
                      Fill{.values = {.begin = source_.data(),
                                      .count = options.size.value,
                                      .pattern = from_pattern_.data(),
                                      .period = kPeriod},
                           .blocks = grid.blocks});
}

/// What is copied has been written.
void GpuLink::make_ready() {
  if (!std::exchange(ready_, true)) both_.finish();
}

std::string GpuLink::words() const {
  return &from_ == &to_
             ? fmt::format("within GPU {}", to_.facts().ordinal)
             : fmt::format("GPU {} to GPU {}", from_.facts().ordinal, to_.facts().ordinal);
}

Seconds GpuLink::hop(const std::string& kernel, std::size_t way) {
  make_ready();
  const double first = round_trips(kernel, way, kFewestTrips).count() / kFewestTrips;
  const int trips = static_cast<int>(
      std::clamp(kReading.count() / std::max(first, 1e-9), 1.0 * kFewestTrips, 1.0 * kMostTrips));
  std::vector<Seconds> times;
  for (int i = 0; i < kHopReadings; ++i)
    times.push_back(round_trips(kernel, way, trips) / (2.0 * trips));
  return median(times);
}

Seconds GpuLink::round_trips(const std::string& kernel, std::size_t way, int trips) {
  Hops what{.boxes = {reinterpret_cast<Mailbox*>(boxes_[0].data()),
                      reinterpret_cast<Mailbox*>(boxes_[1].data())},
            .begun = trips_[way],
            .trips = trips,
            .longest_wait = options_.patience.longest_wait().count()};
  trips_[way] += static_cast<std::uint32_t>(trips);
  const auto launch = [&](GpuStream& stream, int first_end, int blocks) {
    auto* const told = reinterpret_cast<Told*>(told_[first_end].data());
    what.first_end = first_end;
    what.wrong = told->wrong;
    what.given_up = &told->given_up;
    what.stuck = told->stuck;
    stream.launch_together(kernel, {.blocks = blocks, .threads = 1}, what);
    both_.launched();
  };
  both_.start();
  if (&from_ == &to_) {
    launch(from_stream_, 0, 2);
  } else {
    launch(from_stream_, 0, 1);
    launch(to_stream_, 1, 1);
  }
  const Seconds time = both_.stop();
  require_arrival();
  return time;
}

void GpuLink::require_arrival() {
  for (const std::size_t end : {0, 1})
    (end == 0 ? from_stream_ : to_stream_)
        .copy_to_host(reinterpret_cast<std::byte*>(&host_told_[end]), told_[end].data(),
                      told_[end].size());
  both_.finish();
  for (const Told& told : host_told_) {
    for (const Stuck& stuck : told.stuck)
      if (stuck.complete != 0)
        throw Error(
            ErrorKind::timed_out,
            fmt::format(
                "{}: {} waited in vain for the other, in trip {}: flag {} expected, {} found",
                words(), stuck.wait.rank == 0 ? "the first" : "the second", stuck.wait.step,
                stuck.wait.expected, stuck.wait.found));
    if (told.wrong[0] != 0 || told.wrong[1] != 0)
      throw Error(ErrorKind::wrong_result, words() + ": a flag came before its data");
  }
}

void GpuLink::clear_copy() {
  make_ready();
  to_stream_.set(copy_.data(), kNowhere, copy_.size());
  reader_.finish();
}

void GpuLink::require_copied(const std::string& how) {
  if (options_.spoils) to_stream_.set(copy_.data() + options_.size.value / 2, kNowhere, Bytes{1});
  const Grid grid = data_grid(to_);
  to_stream_.launch("compare_values_1", grid,
                    Comparison{.values = {.begin = copy_.data(),
                                          .count = options_.size.value,
                                          .pattern = to_pattern_.data(),
                                          .period = kPeriod},
                               .blocks = grid.blocks,
                               .verdicts = reinterpret_cast<WrongCount*>(verdicts_.data())});
  reader_.finish();  // a copy into pageable memory would wait for it without patience
  to_stream_.copy_to_host(reinterpret_cast<std::byte*>(found_.data()), verdicts_.data(),
                          verdicts_.size());
  reader_.finish();
  WrongCount all{0, options_.size.value};
  for (const WrongCount& one : found_) {
    all.wrong += one.wrong;
    if (one.wrong > 0) all.first = std::min(all.first, one.first);
  }
  if (all.wrong > 0)
    throw Error(ErrorKind::wrong_result,
                fmt::format("{}: {} of {} bytes {} are wrong, the first is byte {}", words(),
                            all.wrong, options_.size.value, how, all.first));
}

/// So many in a row that a reading is long beside a launch.
template <class Queue>
Seconds GpuLink::time_of_one(Queue queue) {
  const auto reading = [&](int count) {
    reader_.start();
    for (int i = 0; i < count; ++i) {
      queue();
      reader_.launched();
    }
    return reader_.stop() / count;
  };
  (void)reading(1);
  const int count = static_cast<int>(
      std::clamp(kReading.count() / std::max(reading(1).count(), 1e-9), 1.0, 1.0 * kMostCopies));
  std::vector<Seconds> times;
  for (int i = 0; i < kCopyReadings; ++i) times.push_back(reading(count));
  return median(times);
}

Seconds GpuLink::copy_by_kernel() {
  clear_copy();
  const Seconds time = time_of_one([&] { reading_.pack(); });
  require_copied("that a kernel copied");
  return time;
}

Seconds GpuLink::copy_by_engine() {
  clear_copy();
  const Seconds time =
      time_of_one([&] { to_stream_.copy(copy_.data(), source_.data(), options_.size); });
  require_copied("that the driver copied");
  return time;
}

Seconds GpuLink::launch() {
  make_ready();
  std::vector<Seconds> times;
  for (int i = 0; i < kCopyReadings; ++i) {
    reader_.start();
    for (int k = 0; k < kEmptyKernels; ++k) {
      to_stream_.launch("flag_hops", {.blocks = 1, .threads = 1}, Hops{});
      reader_.launched();
    }
    times.push_back(reader_.stop() / kEmptyKernels);
  }
  return median(times);
}

std::vector<Seconds> GpuLink::copy_together(const std::vector<GpuLink*>& links) {
  std::vector<GpuStream*> streams;
  for (GpuLink* link : links) {
    link->clear_copy();
    streams.push_back(&link->to_stream_);
  }
  auto& clock = links.front()->together_;
  clock = std::make_unique<GpuClock>(streams, links.front()->options_.patience.longer());
  std::vector<std::vector<Seconds>> readings(links.size());
  for (int reading = -1; reading < kCopyReadings; ++reading) {  // the first warms up
    clock->start();
    for (int i = 0; i < kCopiesTogether; ++i)
      for (GpuLink* link : links) {
        link->reading_.pack();
        clock->launched();
      }
    (void)clock->stop();
    for (std::size_t i = 0; reading >= 0 && i < links.size(); ++i)
      readings[i].push_back(clock->time_of(static_cast<int>(i)) / kCopiesTogether);
  }
  for (GpuLink* link : links) link->require_copied("that a kernel copied beside others");
  std::vector<Seconds> times;
  for (const std::vector<Seconds>& of_one : readings) times.push_back(median(of_one));
  return times;
}

}  // namespace collmark
