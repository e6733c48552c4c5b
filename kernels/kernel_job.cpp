#include "kernels/kernel_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "collectives/catalogue.hpp"
#include "collectives/index.hpp"
#include "collectives/partition.hpp"
#include "collectives/promise.hpp"
#include "kernels/hand_written.hpp"
#include "kernels/kernel_trees.hpp"
#include "kernels/line.hpp"

namespace collmark {
namespace {

Operator operator_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
      return Operator::prod;
    case ReduceOp::min:
      return Operator::min;
    case ReduceOp::max:
      return Operator::max;
    case ReduceOp::sum:
    case ReduceOp::avg:
      break;
  }
  return Operator::sum;
}

/// Who sends to whom, each pair once, in the schedule's order.
std::vector<SrcDst> pairs_of(const Schedule& s) {
  std::vector<SrcDst> pairs;
  std::set<std::pair<int, int>> seen;
  for (int t = 0; t < s.steps; ++t)
    s.step(t, [&](const Transfer& x) {
      if (x.src != x.dst && seen.insert({x.src, x.dst}).second) pairs.push_back({x.src, x.dst});
    });
  return pairs;
}

/// Null where the interpreter runs it.
const HandWritten* chosen(const KernelTask& task) {
  const std::string base = parse_algorithm(task.name.algorithm).base;
  const auto of = [&](Way way) { return hand_written(task.collective, base, way); };
  if (task.name.way != Way::standard) return of(task.name.way);
  const HandWritten* const by_lines = of(Way::low_latency);
  const bool small = by_lines != nullptr && suits(*by_lines, task.payload.size(), task.ranks);
  return small ? by_lines : of(Way::simple);
}

}  // namespace

KernelJob::KernelJob(KernelTask task, const Tuning& tuning)
    : task_(std::move(task)),
      schedule_(build(task_.collective, task_.name.algorithm, task_.ranks, task_.root)),
      shape_{.ranks = task_.ranks,
             .channels = tuning.channels,
             .slots = tuning.slots,
             .element = size_of(task_.payload.dtype)} {
  if (task_.collective == Collective::all_to_all && task_.placement == Placement::in_place)
    throw Unsupported("all_to_all in place: blocks would overwrite others not yet sent");
  shape_.slot_elements =
      std::max<std::int64_t>(1, tuning.slot.value / static_cast<std::int64_t>(shape_.element));
  choose_kernel(tuning);
}

std::string KernelJob::symbol() const {
  return fmt::format("{}_{}", name(kernel_), name(task_.payload.dtype));
}

void KernelJob::choose_kernel(const Tuning& tuning) {
  const HandWritten* const own = chosen(task_);
  if (own != nullptr) {
    kernel_ = own->kernel;
    if (own->way == Way::low_latency) shape_.protocol = Protocol::low_latency;
  } else if (task_.name.way != Way::standard && task_.name.way != Way::interpreted) {
    throw Unsupported(fmt::format("{}: no kernel of that name for {}", to_string(task_.name),
                                  name(task_.collective)));
  }
  if (is_ring(kernel_) && task_.ranks == 1) {
    kernel_ = Kernel::interpreted;
    shape_.protocol = Protocol::simple;
  }

  const Bytes buffer = task_.payload.size();
  if (is_ring(kernel_) || is_tree(kernel_)) shape_.links = pairs_of(schedule_);
  if (is_tree(kernel_)) {
    trees_ = static_cast<int>(trees_of(schedule_).size());
    const int directions = task_.collective == Collective::all_reduce ? 2 : 1;
    shape_.channels = rounded_up(tuning.channels, directions * trees_);
  }
  if (kernel_ == Kernel::one_shot_all_reduce && task_.placement == Placement::in_place)
    shape_.staging = at(buffer.value);
  if (kernel_ == Kernel::one_shot_ll_all_reduce || kernel_ == Kernel::two_shot_ll_all_reduce) {
    const int chunks = kernel_ == Kernel::two_shot_ll_all_reduce ? task_.ranks : 1;
    const auto element = static_cast<std::int64_t>(shape_.element);
    const Part longest = share(chunk_of(task_.payload.count.value, chunks, 0), 0, shape_.channels,
                               static_cast<int>(16 / element));
    shape_.inbox_lines = (longest.count * element + kDataOfLine - 1) / kDataOfLine;
  }
  if (kernel_ == Kernel::interpreted) {
    plan_ = plan(schedule_, task_.placement);
    const int buffers = task_.collective == Collective::all_to_all ? 2 : 1;
    for (const RankPlan& r : plan_.ranks) {
      if (r.uses_scratch) shape_.scratch = at(buffer.value * buffers);
      if (r.uses_spare) shape_.spare = at(buffer.value * buffers);
    }
  }
}

Job KernelJob::lay_out(Ranks here, const Reach& reach, Tables& tables) const {
  const World world(shape_, reach);
  std::vector<RankView> views;
  for (int r = here.first; r < here.first + here.count; ++r) {
    views.push_back(world.view(r, tables));
    if (is_tree(kernel_)) views.back().trees = tables.add(trees(r, tables));
    if (kernel_ == Kernel::interpreted) views.back().program = program(r, world, reach, tables);
  }
  const bool divides = task_.payload.op == ReduceOp::avg && reduces(task_.collective);
  return {.views = tables.add(views),
          .ranks = task_.ranks,
          .rank_base = here.first,
          .held = here.count,
          .channels = shape_.channels,
          .chunks = kernel_ == Kernel::one_shot_ll_all_reduce ? 1 : schedule_.chunks,
          .servers = schedule_.servers,
          .trees = trees_,
          .count = task_.payload.count.value,
          .in_place = task_.placement == Placement::in_place,
          .what = {.op = operator_of(task_.payload.op),
                   .divisor = divides ? task_.ranks - schedule_.servers : 0},
          .slots = shape_.slots,
          .slot_elements = shape_.slot_elements,
          .slot_bytes = slot_bytes(shape_),
          .inbox_lines = shape_.inbox_lines};
}

std::vector<TreePlace> KernelJob::trees(int rank, Tables& tables) const {
  std::vector<TreePlace> places;
  for (const RankTree& tree : trees_of(schedule_)) {
    const std::vector<int>& children = tree.children[at(rank)];
    places.push_back({.parent = tree.parent[at(rank)],
                      .depth = tree.depth(rank),
                      .height = tree.height(),
                      .children = tables.add(children),
                      .child_count = static_cast<int>(children.size())});
  }
  return places;
}

Program KernelJob::program(int rank, const World& world, const Reach& reach, Tables& tables) const {
  const Partition partition(schedule_, task_.payload.count);
  const auto address = [&](const Location& l) {
    const std::size_t offset = at(partition.chunk(l.chunk).offset.value) * shape_.element;
    const bool second_half =
        task_.collective == Collective::all_to_all && l.chunk >= schedule_.ranks;
    const std::size_t half = second_half ? at(task_.payload.count.value) * shape_.element : 0;
    switch (l.place) {
      case Place::input:
        return reach.inputs[at(l.rank)] + offset;
      case Place::output:
        return reach.outputs[at(l.rank)] + offset;
      case Place::scratch:
        return world.scratch(l.rank) + offset + half;
      case Place::spare:
        break;
    }
    return world.spare(l.rank) + offset + half;
  };

  std::vector<Instruction> instructions;
  std::vector<std::byte*> addresses, owed;
  std::vector<std::int64_t> owed_counts;
  std::vector<PeerActions> waits;
  std::vector<SrcDst> edges;
  const auto size = [](const auto& list) { return static_cast<int>(list.size()); };
  const RankPlan& mine = plan_.ranks[at(rank)];
  for (const Action& a : mine.actions) {
    Instruction x{.step = a.step,
                  .first_address = size(addresses),
                  .sources = size(a.sources),
                  .destinations = size(a.destinations),
                  .first_wait = size(waits),
                  .waits = size(a.waits),
                  .first_edge = size(edges),
                  .edges = size(a.edges),
                  .announced = a.announced};
    Elements count{a.destinations.empty() ? 0 : partition.largest().value};
    for (const auto* list : {&a.sources, &a.destinations})
      for (const Location& l : *list) {
        count = std::min(count, partition.chunk(l.chunk).size);
        addresses.push_back(address(l));
      }
    x.count = count.value;
    for (const Wait& w : a.waits) waits.push_back({w.peer, w.actions});
    for (const Edge& e : a.edges) edges.push_back({e.src, e.dst});
    instructions.push_back(x);
  }
  const int first_leave = size(waits);
  for (const Wait& w : mine.leave) waits.push_back({w.peer, w.actions});
  for (int chunk = 0; chunk < schedule_.chunks; ++chunk)
    if (owed_after(schedule_, rank, chunk).what == Owed::What::every_contributor) {
      owed.push_back(address({rank, chunk, Place::output}));
      owed_counts.push_back(partition.chunk(chunk).size.value);
    }
  std::size_t most = 0;
  for (const RankPlan& r : plan_.ranks) most = std::max(most, r.actions.size());
  return {.instructions = tables.add(instructions),
          .size = size(instructions),
          .most = static_cast<int>(most),
          .addresses = tables.add(addresses),
          .waits = tables.add(waits),
          .first_leave = first_leave,
          .leaves = size(mine.leave),
          .edges = tables.add(edges),
          .owed = tables.add(owed),
          .owed_counts = tables.add(owed_counts),
          .owed_size = size(owed),
          .longest = partition.largest().value,
          .tile = shape_.slot_elements};
}

}  // namespace collmark
