#include "kernels/world.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "collectives/error.hpp"
#include "collectives/index.hpp"
#include "kernels/links.hpp"

namespace collmark {
namespace {

constexpr std::size_t kLine = sizeof(std::uint32_t) * kFlagStride;

std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Of the links, which number this one has among those into its receiver, or out of its sender.
std::size_t place_in(const WorldShape& s, SrcDst link) {
  const auto end = std::find_if(s.links.begin(), s.links.end(), [=](const SrcDst& l) {
    return l.src == link.src && l.dst == link.dst;
  });
  return at(
      std::count_if(s.links.begin(), end, [=](const SrcDst& l) { return l.dst == link.dst; }));
}
std::size_t place_out(const WorldShape& s, SrcDst link) {
  const auto end = std::find_if(s.links.begin(), s.links.end(), [=](const SrcDst& l) {
    return l.src == link.src && l.dst == link.dst;
  });
  return at(
      std::count_if(s.links.begin(), end, [=](const SrcDst& l) { return l.src == link.src; }));
}

/// The most links into one rank, and out of one.
struct Degrees {
  explicit Degrees(const WorldShape& s) {
    std::vector<std::size_t> into(at(s.ranks)), out_of(at(s.ranks));
    for (const SrcDst& l : s.links) {
      in = std::max(in, ++into[at(l.dst)]);
      out = std::max(out, ++out_of[at(l.src)]);
    }
  }
  std::size_t in = 0, out = 0;
};

/// Offsets into a piece [bytes].
struct Layout {
  explicit Layout(const WorldShape& s) {
    const Degrees most(s);
    const auto take = [this](std::size_t bytes) {
      const std::size_t begin = size;
      size += rounded(bytes, kLine);
      return begin;
    };
    const std::size_t channels = at(s.channels);
    arrived = take(channels * at(s.ranks) * sizeof(std::uint32_t));
    progress = take(channels * kLine);
    meetings = take(channels * sizeof(std::uint32_t));
    begun = take(channels * sizeof(std::uint32_t));
    epochs = take(channels * sizeof(std::uint32_t));
    received = take(channels * most.in * sizeof(std::uint32_t));
    sent = take(channels * most.out * sizeof(std::uint32_t));
    heads = take(channels * most.out * kLine);
    tails = take(channels * most.in * kLine);
    slots = take(channels * most.in * at(s.slots) * slot_bytes(s));
    inboxes = take(kInboxes * channels * at(s.ranks) * at(s.inbox_lines * kLineBytes));
    staging = take(s.staging);
    scratch = take(s.scratch);
    spare = take(s.spare);
  }
  std::size_t arrived, progress, meetings, begun, epochs, received, sent, heads, tails, slots,
      inboxes, staging, scratch, spare;
  std::size_t size = 0;
};

template <class T>
T* inside(std::byte* piece, std::size_t offset) {
  return reinterpret_cast<T*>(piece + offset);
}

void require_sense(const WorldShape& s, const Reach& reach) {
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw Error(ErrorKind::usage, what);
  };
  require(s.ranks >= 1, "a job has 1 rank or more, not " + std::to_string(s.ranks));
  require(s.channels >= 1, "a job has 1 channel or more, not " + std::to_string(s.channels));
  require(s.slots >= 2 && (s.slots & (s.slots - 1)) == 0,
          "a link has 2, 4, 8, ... slots, not " + std::to_string(s.slots) +
              ": with one a ring waits for itself, and counters that wrap need a power of two");
  require(s.slot_elements >= 1, "a slot holds 1 element or more");
  const Degrees most(s);
  require(std::max(most.in, most.out) <= kMostPeers,
          "a rank has links to " + std::to_string(kMostPeers) + " peers at most");
  for (const auto* list : {&reach.pieces, &reach.inputs, &reach.outputs})
    require(list->size() == at(s.ranks),
            "one address for each rank, not " + std::to_string(list->size()));
}

/// Whose piece, and what offset in it: that address for every rank.
template <class T>
std::vector<T*> everywhere(const Reach& reach, std::size_t offset) {
  std::vector<T*> all;
  for (std::byte* piece : reach.pieces) all.push_back(inside<T>(piece, offset));
  return all;
}

}  // namespace

std::size_t slot_bytes(const WorldShape& s) {
  const std::size_t data = at(s.slot_elements) * s.element;
  if (s.protocol == Protocol::simple) return rounded(data, 16) + 16;
  return (data + at(kDataOfLine) - 1) / at(kDataOfLine) * at(kLineBytes);
}

std::size_t piece_bytes(const WorldShape& s) { return Layout(s).size; }

World::World(WorldShape shape, Reach reach) : shape_(std::move(shape)), reach_(std::move(reach)) {
  require_sense(shape_, reach_);
}

LinkEnd World::link(SrcDst ends, int channel) const {
  const Layout layout(shape_);
  std::byte* const sender = reach_.pieces[at(ends.src)];
  std::byte* const receiver = reach_.pieces[at(ends.dst)];
  const std::size_t in = place_in(shape_, ends) * at(shape_.channels) + at(channel);
  const std::size_t out = place_out(shape_, ends) * at(shape_.channels) + at(channel);
  return {.tail = inside<std::uint32_t>(receiver, layout.tails + in * kLine),
          .head = inside<std::uint32_t>(sender, layout.heads + out * kLine),
          .slots = receiver + layout.slots + in * at(shape_.slots) * slot_bytes(shape_),
          .passed = nullptr};
}

std::vector<LinkEnd> World::incoming(int rank) const {
  const Layout layout(shape_);
  std::vector<LinkEnd> all(at(shape_.ranks) * at(shape_.channels));
  for (const SrcDst& l : shape_.links)
    for (int c = 0; l.dst == rank && c < shape_.channels; ++c) {
      LinkEnd end = link(l, c);
      end.passed = inside<std::uint32_t>(reach_.pieces[at(rank)], layout.received) +
                   place_in(shape_, l) * at(shape_.channels) + c;
      all[at(l.src * shape_.channels + c)] = end;
    }
  return all;
}

std::vector<LinkEnd> World::outgoing(int rank) const {
  const Layout layout(shape_);
  std::vector<LinkEnd> all(at(shape_.ranks) * at(shape_.channels));
  for (const SrcDst& l : shape_.links)
    for (int c = 0; l.src == rank && c < shape_.channels; ++c) {
      LinkEnd end = link(l, c);
      end.passed = inside<std::uint32_t>(reach_.pieces[at(rank)], layout.sent) +
                   place_out(shape_, l) * at(shape_.channels) + c;
      all[at(l.dst * shape_.channels + c)] = end;
    }
  return all;
}

RankView World::view(int rank, Tables& tables) const {
  const Layout layout(shape_);
  std::byte* const mine = reach_.pieces[at(rank)];
  RankView view;
  view.inputs = tables.add(reach_.inputs);
  view.outputs = tables.add(reach_.outputs);
  view.staging = tables.add(everywhere<std::byte>(reach_, layout.staging));
  view.arrived = tables.add(everywhere<std::uint32_t>(reach_, layout.arrived));
  view.meetings = inside<std::uint32_t>(mine, layout.meetings);
  view.from = tables.add(incoming(rank));
  view.to = tables.add(outgoing(rank));
  view.inboxes = tables.add(everywhere<std::uint64_t>(reach_, layout.inboxes));
  view.epochs = inside<std::uint32_t>(mine, layout.epochs);
  view.progress = tables.add(everywhere<std::uint32_t>(reach_, layout.progress));
  view.begun = inside<std::uint32_t>(mine, layout.begun);
  return view;
}

std::byte* World::scratch(int rank) const {
  return reach_.pieces[at(rank)] + Layout(shape_).scratch;
}
std::byte* World::spare(int rank) const { return reach_.pieces[at(rank)] + Layout(shape_).spare; }

}  // namespace collmark
