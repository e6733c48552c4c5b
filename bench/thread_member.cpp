#include "bench/thread_member.hpp"

#include <algorithm>

#include "collectives/schedule.hpp"

namespace collmark {
namespace {

constexpr std::chrono::microseconds kLead{
    2};  // per barrier round: longer than the barrier before it

}  // namespace

ThreadLaunch::ThreadLaunch(int ranks, const TeamOptions& options)
    : team_(ranks, options), mailbox_(static_cast<std::size_t>(ranks)) {}

Start ThreadMember::start_together() {
  barrier();  // all are here: from now on nobody is waited for long
  if (launch_.team_.oversubscribed() || ranks() == 1) return {Clock::now()};
  std::atomic<Clock::rep>& agreed = launch_.start_;
  if (rank_ == 0) {
    const auto start = Clock::now() + kLead * ceil_log2(ranks());
    agreed.store(start.time_since_epoch().count(), std::memory_order_relaxed);
  }
  barrier();  // publishes `agreed`
  const Clock::time_point start{Clock::duration(agreed.load(std::memory_order_relaxed))};
  Clock::time_point now = Clock::now();
  if (now > start) return {now, true};
  while (now < start) now = Clock::now();
  return {now, false};
}

void ThreadMember::broadcast(std::span<std::byte> bytes) {
  std::vector<std::byte>& box = launch_.mailbox_[0];
  if (rank_ == 0) box.assign(bytes.begin(), bytes.end());
  barrier();
  if (rank_ != 0) std::copy(box.begin(), box.end(), bytes.begin());
  barrier();
}

std::vector<std::byte> ThreadMember::gather(std::span<const std::byte> mine) {
  launch_.mailbox_[static_cast<std::size_t>(rank_)].assign(mine.begin(), mine.end());
  barrier();
  std::vector<std::byte> all;
  if (rank_ == 0)
    for (const auto& box : launch_.mailbox_) all.insert(all.end(), box.begin(), box.end());
  barrier();
  return all;
}

}  // namespace collmark
