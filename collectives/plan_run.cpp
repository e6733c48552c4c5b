#include "collectives/plan_run.hpp"

#include <algorithm>
#include <utility>

#include "collectives/execute.hpp"
#include "collectives/index.hpp"
#include "collectives/promise.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

bool overwrites_a_source(const Action& action) {
  return std::any_of(
      action.destinations.begin(), action.destinations.end(), [&](const Location& l) {
        return std::find(action.sources.begin(), action.sources.end(), l) != action.sources.end();
      });
}

}  // namespace

PlanShape::PlanShape(const Schedule& s, const Plan& plan, const Payload& what,
                     const PlanOptions& options)
    : schedule(s),
      payload(what),
      partition(s, what.count),
      element(size_of(what.dtype)),
      reduce(options.pass != nullptr ? options.pass : reduce_pass(what.dtype, what.op)) {
  tile = std::max<std::size_t>(1, at(options.tile.value) / element);
  const std::size_t largest = at(partition.largest().value);
  tiles = static_cast<int>(std::max<std::size_t>(1, (largest + tile - 1) / tile));
  const Bytes cache = options.streaming_above.value > 0 ? options.streaming_above
                                                        : Bytes{this_host().last_level_cache};
  const Bytes buffer{what.count.value * static_cast<std::int64_t>(element)};
  const int buffers = plan.placement == Placement::in_place ? 1 : 2;
  streaming = cache.value > 0 &&  // half a cache is left to the inputs
              (buffer * s.ranks * buffers).value > cache.value / 2;

  if (what.op == ReduceOp::avg && reduces(s.collective)) average = average_pass(what.dtype);
  const Bytes place = buffer * (s.collective == Collective::all_to_all ? 2 : 1);
  for (const RankPlan& r : plan.ranks) {
    needs.push_back(
        {.scratch = r.uses_scratch ? place : Bytes{}, .spare = r.uses_spare ? place : Bytes{}});
    actions.push_back(r.actions.size());
  }
}

PlanRun::PlanRun(const PlanShape& shape, RankPlan&& mine, int rank,
                 std::span<const RankMemory> memory, Waiting& waiting)
    : shape_(shape),
      memory_(memory),
      waiting_(waiting),
      rank_(rank),
      leave_(std::move(mine.leave)),
      moved_(at(shape.schedule.ranks)) {
  std::size_t most_sources = 1, most_destinations = 1;
  for (Action& action : mine.actions) {
    passes_.push_back(pass_of(std::move(action)));
    most_sources = std::max(most_sources, passes_.back().sources.size());
    most_destinations = std::max(most_destinations, passes_.back().destinations.size());
  }
  tile_sources_.resize(most_sources);
  tile_destinations_.resize(most_destinations);
  // Peers on our own core first: when they have run, the others have most likely arrived too.
  const auto on_our_core = [&](const Wait& w) { return waiting_.share_a_core(rank_, w.peer); };
  for (Pass& pass : passes_)
    std::stable_partition(pass.waits.begin(), pass.waits.end(), on_our_core);
  std::stable_partition(leave_.begin(), leave_.end(), on_our_core);
  for (int chunk = 0; chunk < shape_.schedule.chunks; ++chunk)
    if (owed_after(shape_.schedule, rank_, chunk).what == Owed::What::every_contributor)
      owed_.push_back(shape_.partition.chunk(chunk));
}

PlanRun::Pass PlanRun::pass_of(Action&& action) const {
  Pass pass;
  pass.step = action.step;
  pass.announced = action.announced;
  // A line that is also read is in the cache already: storing round it would cost, not save.
  if (shape_.streaming && action.unread && !overwrites_a_source(action))
    pass.stores = Stores::streaming;
  pass.waits = std::move(action.waits);
  pass.edges = std::move(action.edges);
  if (action.destinations.empty()) return pass;
  Elements count = shape_.partition.chunk(action.destinations.front().chunk).size;
  for (const Location& l : action.sources) {
    pass.sources.push_back(address(l));
    count = std::min(count, shape_.partition.chunk(l.chunk).size);
  }
  for (const Location& l : action.destinations) pass.destinations.push_back(address(l));
  pass.count = at(count.value);
  return pass;
}

std::byte* PlanRun::address(const Location& l) const {
  const Schedule& s = shape_.schedule;
  const std::size_t offset = at(shape_.partition.chunk(l.chunk).offset.value) * shape_.element;
  const bool second_half = s.collective == Collective::all_to_all && l.chunk >= s.ranks;
  const std::size_t half = second_half ? at(shape_.payload.count.value) * shape_.element : 0;
  const RankMemory& memory = memory_[at(l.rank)];
  switch (l.place) {
    case Place::input:
      return memory.buffers.input + offset;
    case Place::output:
      return memory.buffers.output + offset;
    case Place::scratch:
      return memory.scratch + offset + half;
    case Place::spare:
      break;
  }
  return memory.spare + offset + half;
}

void PlanRun::run() {
  ++operation_;
  std::fill(moved_.begin(), moved_.end(), Moved{});
  execute(*this);
}

/// What the counter of `peer` shows when it has done so many actions of this tile; 0 of tile 0: has entered.
std::uint64_t PlanRun::done(int peer, int tile, int actions) const {
  const std::uint64_t per_tile = shape_.actions[at(peer)];
  const std::uint64_t stride = 1 + static_cast<std::uint64_t>(shape_.tiles) * per_tile;
  return (operation_ - 1) * stride + 1 + static_cast<std::uint64_t>(tile) * per_tile +
         static_cast<std::uint64_t>(actions);
}

void PlanRun::enter() { waiting_.publish(*memory_[at(rank_)].progress, done(rank_, 0, 0)); }

void PlanRun::wait_for(int action, int tile) {
  const Pass& pass = passes_[at(action)];
  for (const Wait& w : pass.waits) await(w, tile, pass.step);
}

void PlanRun::await(const Wait& w, int tile, int step) {
  if (w.actions == 0 && tile > 0) return;  // it has entered long ago
  waiting_.await(*memory_[at(w.peer)].progress, done(w.peer, tile, w.actions),
                 {.rank = rank_,
                  .peer = w.peer,
                  .step = step,
                  .deed = w.actions == 0 ? Deed::enter : Deed::take_part});
}

void PlanRun::combine(int action, int tile) {
  const Pass& pass = passes_[at(action)];
  const std::size_t first = at(tile) * shape_.tile;
  const std::size_t count = first < pass.count ? std::min(shape_.tile, pass.count - first) : 0;
  const std::size_t elements = count > 0 ? move(pass, first, count) : 0;
  const Bytes bytes{static_cast<std::int64_t>(elements * shape_.element)};
  for (const Edge& e : pass.edges) {
    moved_[at(e.src)].sent += bytes;
    moved_[at(e.dst)].received += bytes;
    if (tile == 0) moved_[at(e.src)].messages += e.messages;
  }
}

/// Returns the elements moved.
std::size_t PlanRun::move(const Pass& pass, std::size_t first, std::size_t count) {
  if (first == 0) return shape_.reduce(pass.sources, pass.destinations, count, pass.stores);
  const std::size_t offset = first * shape_.element;
  for (std::size_t i = 0; i < pass.sources.size(); ++i) tile_sources_[i] = pass.sources[i] + offset;
  for (std::size_t i = 0; i < pass.destinations.size(); ++i)
    tile_destinations_[i] = pass.destinations[i] + offset;
  return shape_.reduce({tile_sources_.data(), pass.sources.size()},
                       {tile_destinations_.data(), pass.destinations.size()}, count, pass.stores);
}

void PlanRun::announce(int action, int tile) {
  if (!passes_[at(action)].announced) return;
  if (shape_.streaming) streaming_fence();
  waiting_.publish(*memory_[at(rank_)].progress, done(rank_, tile, action + 1));
}

void PlanRun::leave() {
  for (const Wait& w : leave_) await(w, shape_.tiles - 1, kLeaving);
  if (shape_.average == nullptr) return;
  const int contributors = shape_.schedule.ranks - shape_.schedule.servers;
  for (const Span& span : owed_)
    shape_.average(memory_[at(rank_)].buffers.output + at(span.offset.value) * shape_.element,
                   at(span.size.value), contributors);
}

}  // namespace collmark
