#include "collectives/threads.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "collectives/error.hpp"
#include "collectives/index.hpp"
#include "collectives/pages.hpp"
#include "collectives/plan.hpp"
#include "collectives/plan_run.hpp"
#include "collectives/team.hpp"

namespace collmark {
namespace {

void require_fitting(const ThreadTeam& team, const Schedule& schedule,
                     const std::vector<RankBuffers>& buffers) {
  if (schedule.ranks != team.ranks() || buffers.size() != at(schedule.ranks))
    throw Error(
        ErrorKind::usage,
        fmt::format("a schedule for {} ranks needs a team of as many (it has {}) and a pair "
                    "of buffers for each (there are {})",
                    schedule.ranks, team.ranks(), buffers.size()));
}

Placement placement_of(const std::vector<RankBuffers>& buffers) {
  return buffers[0].input == buffers[0].output ? Placement::in_place : Placement::out_of_place;
}

}  // namespace

struct ThreadsCollective::State {
  State(ThreadTeam& thread_team, const Schedule& schedule, const Payload& payload, const Plan& plan,
        const PlanOptions& options)
      : team(thread_team.share()),
        shape(schedule, plan, payload, options),
        progress(at(schedule.ranks)),
        memory(at(schedule.ranks)) {}

  std::shared_ptr<ThreadTeam::Shared> team;
  PlanShape shape;
  std::vector<PageBuffer> scratch, spare;  // [rank]
  std::vector<Counter> progress;           // [rank]
  std::vector<RankMemory> memory;          // [rank]
  std::vector<PlanRun> ranks;
};

ThreadsCollective::ThreadsCollective(ThreadTeam& team, const Schedule& schedule,
                                     const Payload& payload, std::vector<RankBuffers> buffers,
                                     PlanOptions options) {
  require_fitting(team, schedule, buffers);
  Plan made = plan(schedule, placement_of(buffers));
  state_ = std::make_shared<State>(team, schedule, payload, made, options);
  State& s = *state_;
  for (std::size_t r = 0; r < buffers.size(); ++r) {
    s.scratch.emplace_back(s.shape.needs[r].scratch);
    s.spare.emplace_back(s.shape.needs[r].spare);
    s.memory[r] = {.buffers = buffers[r],
                   .scratch = s.scratch[r].data(),
                   .spare = s.spare[r].data(),
                   .progress = &s.progress[r]};
  }
  s.ranks.reserve(buffers.size());
  for (int r = 0; r < schedule.ranks; ++r)
    s.ranks.emplace_back(s.shape, std::move(made.ranks[at(r)]), r, s.memory, *s.team);
}

ThreadsCollective::~ThreadsCollective() = default;

void ThreadsCollective::run(int rank) { state_->ranks[at(rank)].run(); }

Moved ThreadsCollective::moved(int rank) const {
  Moved total;
  for (const PlanRun& r : state_->ranks) total += r.moved()[at(rank)];
  return total;
}

Bytes ThreadsCollective::scratch() const {
  Bytes total;
  for (const PlanShape::Needs& needs : state_->shape.needs) total += needs.scratch + needs.spare;
  return total;
}

}  // namespace collmark
