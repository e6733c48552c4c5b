#include "kernels/world.hpp"

#include <string>

#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr std::size_t kLine =
    128;  // [bytes], what GPUs fetch at once: two flags on one would travel together

std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Offsets into a piece [bytes].
struct Layout {
  explicit Layout(const WorldShape& s) {
    const auto take = [this](std::size_t bytes) {
      const std::size_t begin = size;
      size += rounded(bytes, kLine);
      return begin;
    };
    const std::size_t channels = at(s.channels);
    arrived = take(channels * at(s.ranks) * sizeof(std::uint32_t));
    meetings = take(channels * sizeof(std::uint32_t));
    received = take(channels * sizeof(std::uint32_t));
    sent = take(channels * sizeof(std::uint32_t));
    heads = take(channels * kLine);
    tails = take(channels * kLine);
    slots = take(channels * at(s.slots) * slot_bytes(s));
    staging = take(static_cast<std::size_t>(s.staged) * s.element);
  }
  std::size_t arrived, meetings, received, sent, heads, tails, slots, staging;
  std::size_t size = 0;
};

template <class T>
T* inside(std::byte* piece, std::size_t offset) {
  return reinterpret_cast<T*>(piece + offset);
}

void require_sense(const WorldShape& s, std::size_t pieces) {
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw Error(ErrorKind::usage, what);
  };
  require(s.ranks >= 1, "a job has 1 rank or more, not " + std::to_string(s.ranks));
  require(s.channels >= 1, "a job has 1 channel or more, not " + std::to_string(s.channels));
  require(s.slots >= 2 && (s.slots & (s.slots - 1)) == 0,
          "a link has 2, 4, 8, ... slots, not " + std::to_string(s.slots) +
              ": with one a ring waits for itself, and counters that wrap need a power of two");
  require(s.slot_elements >= 1, "a slot holds 1 element or more");
  require(pieces == at(s.ranks), "a piece of memory for each rank, not " + std::to_string(pieces));
}

}  // namespace

std::size_t slot_bytes(const WorldShape& s) {
  return rounded(static_cast<std::size_t>(s.slot_elements) * s.element, 16) + 16;
}

std::size_t piece_bytes(const WorldShape& s) { return Layout(s).size; }

World::World(const WorldShape& shape, const std::vector<std::byte*>& pieces) : shape_(shape) {
  require_sense(shape, pieces.size());
  const Layout layout(shape);
  from_.resize(at(shape.ranks));
  to_.resize(at(shape.ranks));
  for (int r = 0; r < shape.ranks; ++r) {
    std::byte* const mine = pieces[at(r)];
    const int next = (r + 1) % shape.ranks;
    std::byte* const theirs = pieces[at(next)];
    arrived_.push_back(inside<std::uint32_t>(mine, layout.arrived));
    meetings_.push_back(inside<std::uint32_t>(mine, layout.meetings));
    staging_.push_back(mine + layout.staging);
    for (int c = 0; c < shape.channels; ++c) {
      Link link;
      link.tail = inside<std::uint32_t>(theirs, layout.tails + at(c) * kLine);
      link.head = inside<std::uint32_t>(mine, layout.heads + at(c) * kLine);
      link.slots = theirs + layout.slots + at(c) * at(shape.slots) * slot_bytes(shape);
      link.passed = inside<std::uint32_t>(mine, layout.sent) + c;
      link.peer = next;
      to_[at(r)].push_back(link);
      link.passed = inside<std::uint32_t>(theirs, layout.received) + c;
      link.peer = r;
      from_[at(next)].push_back(link);
    }
  }
}

RankView World::view(int rank, const std::vector<std::byte*>& inputs,
                     const std::vector<std::byte*>& outputs) const {
  return {.inputs = inputs.data(),
          .outputs = outputs.data(),
          .staging = staging_.data(),
          .arrived = arrived_.data(),
          .meetings = meetings_[at(rank)],
          .from = from_[at(rank)].data(),
          .to = to_[at(rank)].data()};
}

}  // namespace collmark
