#include "bench/thread_operation.hpp"

#include <cstring>

#include "bench/cache_walk.hpp"

namespace collmark {
namespace {

std::vector<PageBuffer> new_buffers(int ranks, const Payload& payload) {
  const auto element = static_cast<std::int64_t>(size_of(payload.dtype));
  std::vector<PageBuffer> all;
  for (int r = 0; r < ranks; ++r) all.emplace_back(Bytes{payload.count.value * element});
  return all;
}

}  // namespace

PreparedCollective::PreparedCollective(ThreadTeam& team, const Schedule& schedule,
                                       const Payload& payload, Placement placement)
    : inputs_(new_buffers(schedule.ranks, payload)),
      outputs_(placement == Placement::in_place ? std::vector<PageBuffer>()
                                                : new_buffers(schedule.ranks, payload)),
      data_(schedule, payload),
      traits_{.synchronising = synchronises(schedule.collective),
              .keeps_input = placement == Placement::out_of_place},
      executor_(team, schedule, payload, where()) {}

std::byte* PreparedCollective::input(int rank) const {
  return inputs_[static_cast<std::size_t>(rank)].data();
}

std::byte* PreparedCollective::output(int rank) const {
  return outputs_.empty() ? input(rank) : outputs_[static_cast<std::size_t>(rank)].data();
}

std::vector<RankBuffers> PreparedCollective::where() const {
  std::vector<RankBuffers> all;
  for (std::size_t r = 0; r < inputs_.size(); ++r)
    all.push_back({input(static_cast<int>(r)), output(static_cast<int>(r))});
  return all;
}

Buffers PreparedCollective::buffers() const {
  Buffers all;
  for (const auto* const group : {&inputs_, &outputs_})
    for (const PageBuffer& buffer : *group)
      all.emplace_back(buffer.data(), static_cast<std::size_t>(buffer.size().value));
  return all;
}

void PreparedCollective::first_touch(int rank) {
  const auto touch = [rank](const std::vector<PageBuffer>& buffers_of) {
    if (buffers_of.empty()) return;
    const PageBuffer& buffer = buffers_of[static_cast<std::size_t>(rank)];
    if (buffer.size().value > 0)
      std::memset(buffer.data(), 0, static_cast<std::size_t>(buffer.size().value));
  };
  touch(inputs_);
  touch(outputs_);
}

void ThreadOperation::rewrite_input() {
  all_.data().write_input(rank_, ++generation_, all_.input(rank_));
}

Check ThreadOperation::check() const {
  return all_.data().check(rank_, generation_, all_.output(rank_));
}

void ThreadOperation::evict() { walk(to_walk_); }

}  // namespace collmark
