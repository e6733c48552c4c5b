#include "kernels/gpu_clock.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr int kMostBehindGate = 512;  // launches; streams are known to take about a thousand
// To queue so many takes milliseconds, but ranks also wait for each other in between, and one may be away for seconds.
constexpr std::chrono::milliseconds kLongestClosed{30'000};
constexpr std::chrono::microseconds kBusy{200}, kNap{20};  // of waiting: first without sleep
constexpr int kHostWaitsLonger = 4;  // times, than a rank waits: several may, one after the other

}  // namespace

HostPatience HostPatience::longer() const {
  HostPatience more = *this;
  more.timeout = timeout * kHostWaitsLonger + std::chrono::seconds(1);
  return more;
}

GpuClock::GpuClock(std::vector<GpuStream*> streams, HostPatience patience)
    : patience_(std::move(patience)) {
  for (GpuStream* stream : streams)
    lanes_.push_back({stream, std::make_unique<GpuEvent>(stream->gpu()),
                      std::make_unique<GpuEvent>(stream->gpu())});
  gate_ = std::make_unique<GpuGate>(streams.front()->gpu(),
                                    std::min(patience_.timeout, kLongestClosed));
}

GpuClock::~GpuClock() = default;

void GpuClock::start() {
  gate_->close();
  behind_gate_ = 0;
  started_ = true;
  for (const Lane& lane : lanes_) {
    gate_->hold(*lane.stream);
    lane.stream->record(*lane.start);
  }
}

void GpuClock::launched(int launches) {
  behind_gate_ += launches;
  if (behind_gate_ >= kMostBehindGate) gate_->open();
}

void GpuClock::record_end() {
  for (const Lane& lane : lanes_) lane.stream->record(*lane.end);
  started_ = false;
}

Seconds GpuClock::stop() {
  finish();
  if (gate_->opened_by_itself())
    throw Unsupported(
        "a call of the driver did not return while the GPU waited to begin: launches block (a "
        "debugger?), or its queue was full; so nothing was timed");
  Seconds longest{0};
  for (int i = 0; i < static_cast<int>(lanes_.size()); ++i) longest = std::max(longest, time_of(i));
  return longest;
}

Seconds GpuClock::time_of(int stream) const {
  const Lane& lane = lanes_[static_cast<std::size_t>(stream)];
  return lane.end->since(*lane.start);
}

void GpuClock::let_go() {
  gate_->open();
  record_end();
}

bool GpuClock::idle() const {
  return !started_ && std::all_of(lanes_.begin(), lanes_.end(),
                                  [](const Lane& lane) { return lane.end->passed(); });
}

void GpuClock::finish() {
  record_end();
  gate_->open();
  const auto begin = std::chrono::steady_clock::now();
  while (!idle()) {
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (patience_.interrupted != nullptr && patience_.interrupted->load(std::memory_order_relaxed))
      throw Error(ErrorKind::interrupted, "interrupted");
    if (patience_.watch) patience_.watch();
    if (waited > patience_.timeout)
      throw Error(ErrorKind::timed_out, "the GPU has not come to an end of its kernels for " +
                                            std::to_string(patience_.timeout.count()) +
                                            " ms, and no rank of them has given up waiting");
    if (waited > kBusy) std::this_thread::sleep_for(kNap);
  }
}

}  // namespace collmark
