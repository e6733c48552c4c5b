#include "bench/step_job.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "collectives/error.hpp"
#include "collectives/reduce.hpp"

namespace collmark {
namespace {

constexpr std::size_t kTile = 64 * 1024;  // [bytes] copied and divided while it is in the cache

std::size_t bytes(Elements count, Dtype dtype) {
  return static_cast<std::size_t>(count.value) * size_of(dtype);
}

/// Runs `work(offset, size)` [bytes] over a piece, tile by tile.
template <class Work>
void tiled(std::size_t size, Work work) {
  for (std::size_t at = 0; at < size; at += kTile) work(at, std::min(kTile, size - at));
}

/// Divides in place, once rounded; nothing to do for one rank.
struct Divide {
  AveragePass pass;
  std::size_t element;  // [bytes]
  int divisor;
  void operator()(std::byte* at, std::size_t size) const {
    if (divisor > 1) pass(at, size / element, divisor);
  }
};

Divide division(const StepJob& job, Dtype dtype) {
  return {average_pass(dtype), size_of(dtype), job.work().divisor()};
}

}  // namespace

StepJob::StepJob(ThreadTeam& team, StepWork work) : work_(std::move(work)) {
  for (const StepLayout::Arena& arena : work_.layout.arenas) {
    const auto [payload, times] = payload_of(work_, arena);
    data_.emplace_back(work_.schedule, payload, times);
  }

  for (int r = 0; r < team.ranks(); ++r) {
    Memory& mine = memory_.emplace_back();
    for (const StepLayout::Arena& arena : work_.layout.arenas)
      mine.gradients.emplace_back(
          Bytes{static_cast<std::int64_t>(bytes(arena.count, arena.dtype))});
    for (const Bytes size : work_.layout.buffers) mine.buffers.emplace_back(size);
  }

  for (std::size_t b = 0; b < work_.buckets.size(); ++b) {
    std::vector<RankBuffers> where;
    for (int r = 0; r < team.ranks(); ++r) where.push_back({bucket(r, b), bucket(r, b)});
    executors_.push_back(std::make_unique<ThreadsCollective>(
        team, work_.schedule, Payload{work_.buckets[b].count, work_.buckets[b].dtype}, where));
  }
}

std::byte* StepJob::at(int rank, std::size_t arena, Elements offset) const {
  return memory_[static_cast<std::size_t>(rank)].gradients[arena].data() +
         bytes(offset, work_.layout.arenas[arena].dtype);
}

std::byte* StepJob::gradient(int rank, const Piece& piece) const {
  const auto tensor = static_cast<std::size_t>(piece.tensor);
  return at(rank, work_.layout.arena_of[tensor], work_.layout.offset_of[tensor] + piece.offset);
}

std::byte* StepJob::bucket(int rank, std::size_t bucket) const {
  const StepLayout::Place& place = work_.layout.places[bucket];
  if (!place.buffer) return gradient(rank, work_.buckets[bucket].pieces.front());
  return memory_[static_cast<std::size_t>(rank)].buffers[*place.buffer].data();
}

void StepJob::write_gradients(int rank, int generation) {
  for (std::size_t a = 0; a < data_.size(); ++a)
    data_[a].write_input(rank, generation, at(rank, a, {0}));
}

Check StepJob::check(int rank, int generation) const {
  Check all;
  for (std::size_t a = 0; a < data_.size(); ++a) {
    const Check one = data_[a].check(rank, generation, at(rank, a, {0}));
    if (all.wrong == 0 && one.wrong > 0) {
      all.first = one.first;
      all.first.index += elements_before(work_, a).value;
    }
    all.wrong += one.wrong;
  }
  return all;
}

Buffers StepJob::all_buffers() const {
  Buffers all;
  for (const Memory& mine : memory_)
    for (const auto* const group : {&mine.gradients, &mine.buffers})
      for (const PageBuffer& buffer : *group)
        all.emplace_back(buffer.data(), static_cast<std::size_t>(buffer.size().value));
  return all;
}

Bytes StepJob::scratch() const {
  Bytes sum{};
  for (const auto& executor : executors_) sum += executor->scratch();
  return sum;
}

StepOperation::StepOperation(StepJob& job, int rank) : job_(job), rank_(rank) {}

void StepOperation::rewrite_input() {
  job_.write_gradients(rank_, ++generation_);
  make_room();
}

void StepOperation::make_room() { times_.resize(taken_ + job_.work().buckets.size()); }

void StepOperation::run() {
  make_room();  // already there, and touched, when the gradients were rewritten
  Clock::time_point begin = Clock::now();
  const auto lap = [&begin] {
    const Clock::time_point now = Clock::now();
    return now - std::exchange(begin, now);
  };
  const bool contributes = job_.work().schedule.contributes(rank_);
  for (std::size_t b = 0; b < job_.work().buckets.size(); ++b) {
    BucketTimes& times = times_[taken_++];
    if (contributes) pack(b);
    times.pack = lap();
    job_.executor(b).run(rank_);
    times.wire = lap();
    if (contributes) unpack(b);
    times.unpack = lap();
  }
}

void StepOperation::pack(std::size_t b) {
  const Bucket& bucket = job_.work().buckets[b];
  const bool copies = job_.work().layout.places[b].buffer.has_value();
  const bool divides = job_.work().mean == Mean::before_sum;
  const Divide divide = division(job_, bucket.dtype);
  std::byte* to = job_.bucket(rank_, b);
  for (const Piece& piece : bucket.pieces) {
    const std::byte* from = job_.gradient(rank_, piece);
    const std::size_t size = bytes(piece.count, bucket.dtype);
    tiled(size, [&](std::size_t at, std::size_t n) {
      if (copies) std::memcpy(to + at, from + at, n);
      if (divides) divide(to + at, n);
    });
    to += size;
  }
}

void StepOperation::unpack(std::size_t b) {
  const Bucket& bucket = job_.work().buckets[b];
  const bool copies = job_.work().layout.places[b].buffer.has_value();
  const bool divides = job_.work().mean == Mean::after_sum;
  const Divide divide = division(job_, bucket.dtype);
  std::byte* from = job_.bucket(rank_, b);
  for (const Piece& piece : bucket.pieces) {
    std::byte* to = job_.gradient(rank_, piece);
    const std::size_t size = bytes(piece.count, bucket.dtype);
    tiled(size, [&](std::size_t at, std::size_t n) {
      if (divides) divide(from + at, n);
      if (copies) std::memcpy(to + at, from + at, n);
    });
    from += size;
  }
}

void StepOperation::evict() {
  throw Error(ErrorKind::broken, "a step is measured with touched gradients only");
}

Moved StepOperation::moved() const {
  Moved sum;
  for (std::size_t b = 0; b < job_.work().buckets.size(); ++b) {
    const Moved one = job_.executor(b).moved(rank_);
    sum.sent += one.sent;
    sum.received += one.received;
    sum.messages += one.messages;
  }
  return sum;
}

}  // namespace collmark
