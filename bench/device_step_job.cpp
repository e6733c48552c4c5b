#include "bench/device_step_job.hpp"

#include <utility>

#include "collectives/index.hpp"

namespace collmark {
DeviceStepJob::DeviceStepJob(Gpus& gpus, StepWork work, const MakeAllReduce& make)
    : work_(std::move(work)), spread_{.ranks = work_.schedule.ranks, .gpus = gpus.size()} {
  for (int d = 0; d < devices(); ++d) {
    owned_streams_.push_back(std::make_unique<GpuStream>(gpus[d]));
    streams_.push_back(owned_streams_.back().get());
  }
  for (int r = 0; r < ranks(); ++r) {
    const Gpu& gpu = gpus[device_of(r)];
    Memory& mine = memory_.emplace_back();
    for (const StepLayout::Arena& arena : work_.layout.arenas)
      mine.gradients.emplace_back(
          gpu, Bytes{arena.count.value * static_cast<std::int64_t>(size_of(arena.dtype))});
    for (const Bytes size : work_.layout.buffers) mine.buffers.emplace_back(gpu, size);
  }
  for (std::size_t b = 0; b < work_.buckets.size(); ++b) {
    GpuPlace place{.streams = streams_};
    for (int r = 0; r < ranks(); ++r) place.buffers.push_back(bucket(r, b));
    all_reduces_.push_back(make(work_.buckets[b], place));
    packings_.emplace_back();
    for (int d = 0; d < devices(); ++d)
      packings_.back().push_back(
          std::make_unique<GpuPacking>(*streams_[at(d)], work_.buckets[b].dtype, parts(b, d)));
  }
}

std::byte* DeviceStepJob::arena(int rank, std::size_t arena) const {
  return memory_[at(rank)].gradients[arena].data();
}

std::byte* DeviceStepJob::gradient(int rank, const Piece& piece) const {
  const std::size_t tensor = at(piece.tensor);
  const std::size_t mine = work_.layout.arena_of[tensor];
  const Elements begin = work_.layout.offset_of[tensor] + piece.offset;
  return arena(rank, mine) + at(begin.value) * size_of(work_.layout.arenas[mine].dtype);
}

std::byte* DeviceStepJob::bucket(int rank, std::size_t bucket) const {
  const StepLayout::Place& place = work_.layout.places[bucket];
  if (!place.buffer) return gradient(rank, work_.buckets[bucket].pieces.front());
  return memory_[at(rank)].buffers[*place.buffer].data();
}

/// Of all ranks that live there and contribute, one after the other.
std::vector<TensorPart> DeviceStepJob::parts(std::size_t b, int device) const {
  const Bucket& bucket = work_.buckets[b];
  std::vector<TensorPart> all;
  for (int r = 0; r < ranks(); ++r) {
    if (device_of(r) != device || !work_.schedule.contributes(r)) continue;
    std::byte* packed = this->bucket(r, b);
    for (const Piece& piece : bucket.pieces) {
      all.push_back({gradient(r, piece), packed, piece.count});
      packed += at(piece.count.value) * size_of(bucket.dtype);
    }
  }
  return all;
}

}  // namespace collmark
