#include "bench/mpi/case_on_gpus.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <string_view>

#include "bench/gpu_case.hpp"
#include "bench/mpi/host_team.hpp"
#include "bench/mpi/network_team.hpp"
#include "bench/mpi/watched_team.hpp"
#include "bench/test_hooks.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

/// A hook of the tests: its kernel is never launched, and it never says that it is done.
class AbsentGpuRank final : public Operation, private OwnClock {
 public:
  explicit AbsentGpuRank(Operation& real) : real_(real) {}

  [[nodiscard]] OperationTraits traits() const override { return real_.traits(); }
  void rewrite_input() override { real_.rewrite_input(); }
  void run() override {}
  [[nodiscard]] Check check() const override { return real_.check(); }
  void evict() override { real_.evict(); }
  [[nodiscard]] Moved moved() const override { return real_.moved(); }
  [[nodiscard]] OwnClock* own_clock() override { return this; }

 private:
  void start() override {}
  [[nodiscard]] std::chrono::nanoseconds stop() override { throw RankLeft(); }
  [[nodiscard]] std::chrono::nanoseconds tick() const override { return GpuClock::kTick; }

  Operation& real_;
};

/// The same, with the rank before words that are about its GPU alone.
Error by_rank(int rank, const Error& e) {
  const std::string_view words = e.what();
  return words.starts_with("rank ") ? e : Error(e.kind(), fmt::format("rank {}: {}", rank, words));
}

/// The worst of all.
GpuCondition condition_of_all(const GpuRank& rank) {
  const GpuCondition mine = condition_of(rank.gpu.gpus(), 1, rank.gpu.monitor());
  GpuCondition all;
  for (const GpuCondition& one : rank.peers.all_of(mine)) all = worst(all, one);
  return all;
}

}  // namespace

CaseResult or_give_up(int rank, const CaseContext& context,
                      const std::function<CaseResult()>& run) {
  try {
    return run();
  } catch (const RankLeft&) {
    while (true) pause();
  } catch (const Unsupported& e) {  // too late for a skipped row: the others are at work
    context.give_up(by_rank(rank, Error(ErrorKind::lost, e.what())));
    throw;
  } catch (const Error& e) {
    context.give_up(by_rank(rank, e));
    throw;
  } catch (const std::exception& e) {
    context.give_up(e);
    throw;
  }
}

std::unique_ptr<Team> team_of(const Communicator& comm, const CaseContext& context) {
  const Watched watched(context.dog, "for the other ranks to form a team");
  if (context.hosts.count(comm.ranks()) > 1) return std::make_unique<NetworkTeam>(comm);
  return std::make_unique<HostTeam>(comm.handle());
}

void require_memory(const Case& c, int rank, const Gpu& gpu) {
  const int copies = c.placement == Placement::in_place ? 2 : 3;
  const std::string obstacle = memory_obstacle(copies_of(c.size(), copies), gpu.free_memory());
  if (!obstacle.empty())
    throw Unsupported(fmt::format("rank {} on GPU {} ({}) {}", rank, gpu.facts().ordinal,
                                  gpu.facts().pci, obstacle));
}

void time_on_gpus(CaseResult& result, DeviceOperation& operation, const GpuRank& rank) {
  WatchedTeam team(rank.team, rank.context.dog);
  AbsentGpuRank absent(operation);
  const bool is_absent = test_hooks_from_environment().absent_rank == rank.team.rank();
  Operation& mine = is_absent ? static_cast<Operation&>(absent) : operation;
  result.gpu_before = condition_of_all(rank);
  result.measurement = measure(team, mine, rank.c.measure);
  result.gpu_after = condition_of_all(rank);
  if (!result.measurement.correct())
    result.reason = describe(result.measurement.check, rank.c.dtype);
}

}  // namespace collmark
