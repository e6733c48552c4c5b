#include "collectives/mpi/window_collective.hpp"

#include <new>
#include <utility>
#include <vector>

#include "collectives/index.hpp"
#include "collectives/mpi/shared_window.hpp"
#include "collectives/plan.hpp"

namespace collmark {
namespace {

/// What ranks wait with, at the beginning of what each brings.
struct Post {
  Counter progress;
  Blocked blocked;
};

/// Where a rank's things lie in what it brings [bytes].
struct Extents {
  std::size_t input, output, scratch, spare, end;
};

std::size_t page_after(std::size_t begin, Bytes size) {
  constexpr std::size_t kPage = SharedWindow::kAlignment;
  return (begin + at(size.value) + kPage - 1) / kPage * kPage;
}

Extents extents_of(const PlanShape& shape, Placement placement, int rank) {
  const Bytes buffer{shape.payload.count.value * static_cast<std::int64_t>(shape.element)};
  const PlanShape::Needs& needs = shape.needs[at(rank)];
  Extents e{};
  e.input = page_after(0, {sizeof(Post)});
  e.output = placement == Placement::in_place ? e.input : page_after(e.input, buffer);
  e.scratch = page_after(e.output, buffer);
  e.spare = page_after(e.scratch, needs.scratch);
  e.end = page_after(e.spare, needs.spare);
  return e;
}

}  // namespace

struct WindowCollective::State {
  State(const Communicator& communicator, const Schedule& schedule, const WindowData& data,
        const WindowOptions& options)
      : State(communicator, schedule, data, options, plan(schedule, data.placement)) {}

  State(const Communicator& communicator, const Schedule& schedule, const WindowData& data,
        const WindowOptions& options, Plan&& made)
      : comm(communicator.handle()),
        rank(communicator.rank()),
        shape(schedule, made, data.payload, options.plan),
        window(communicator,
               {static_cast<std::int64_t>(extents_of(shape, data.placement, rank).end)}),
        waiting(cores_of_each(comm), options.timeout),
        memory(lay_out(data.placement)),
        run(shape, std::move(made.ranks[at(rank)]), rank, memory, waiting) {}

  std::vector<RankMemory> lay_out(Placement placement);

  MPI_Comm comm;
  int rank;
  PlanShape shape;
  SharedWindow window;
  Waiting waiting;
  std::vector<RankMemory> memory;  // [rank]
  PlanRun run;
};

std::vector<RankMemory> WindowCollective::State::lay_out(Placement placement) {
  new (window.of(rank)) Post;
  check_mpi(MPI_Barrier(comm), "MPI_Barrier");  // from here on all posts are there
  std::vector<RankMemory> all;
  for (int r = 0; r < shape.schedule.ranks; ++r) {
    std::byte* const base = window.of(r);
    const Extents e = extents_of(shape, placement, r);
    auto& post = *std::launder(reinterpret_cast<Post*>(base));
    waiting.blocked.push_back(&post.blocked);
    all.push_back({.buffers = {.input = base + e.input, .output = base + e.output},
                   .scratch = base + e.scratch,
                   .spare = base + e.spare,
                   .progress = &post.progress});
  }
  return all;
}

WindowCollective::WindowCollective(const Communicator& comm, const Schedule& schedule,
                                   const WindowData& data, const WindowOptions& options)
    : state_(std::make_unique<State>(comm, fitting(schedule, comm), data, options)) {}

WindowCollective::~WindowCollective() = default;

RankBuffers WindowCollective::buffers() const { return state_->memory[at(state_->rank)].buffers; }

void WindowCollective::run() { state_->run.run(); }

Moved WindowCollective::moved() const {
  constexpr int kNumbers = 3;
  std::vector<std::int64_t> mine;  // [rank][number]
  for (const Moved& m : state_->run.moved())
    mine.insert(mine.end(), {m.sent.value, m.received.value, m.messages});
  std::int64_t sum[kNumbers] = {};
  check_mpi(
      MPI_Reduce_scatter_block(mine.data(), sum, kNumbers, MPI_INT64_T, MPI_SUM, state_->comm),
      "MPI_Reduce_scatter_block");
  return {.sent = {sum[0]}, .received = {sum[1]}, .messages = static_cast<int>(sum[2])};
}

Bytes WindowCollective::scratch() const {
  const PlanShape::Needs& needs = state_->shape.needs[at(state_->rank)];
  return needs.scratch + needs.spare;
}

}  // namespace collmark
