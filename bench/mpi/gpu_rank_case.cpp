#include "bench/mpi/gpu_rank_case.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <string_view>

#include "bench/cuda_names.hpp"
#include "bench/device_operation.hpp"
#include "bench/gpu_case.hpp"
#include "bench/mpi/host_team.hpp"
#include "bench/mpi/mpi_peers.hpp"
#include "bench/mpi/watched_team.hpp"
#include "bench/proof.hpp"
#include "bench/variant.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"
#include "collectives/partition.hpp"
#include "kernels/launch.hpp"

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

  Operation& real_;
};

class GpuRankCase {
 public:
  GpuRankCase(const Communicator& comm, const GpuCase& asked, RankGpuOwner& gpu,
              const CaseContext& context)
      : asked_(asked),
        context_(context),
        gpus_(gpu.gpus()),
        monitor_(gpu.monitor()),
        peers_(comm, context.dog),
        comm_(comm) {}

  CaseResult run() {
    result_ = {.implementation = implementation(gpus_[0]),
               .algorithm = asked_.c.algorithm,
               .nodes = context_.hosts.count(asked_.c.ranks)};
    if (prepared()) measure_all();
    leave();
    return result_;
  }

 private:
  /// The same at all ranks: all that can be in the way of a case is agreed on.
  bool prepared() {
    try {
      prepare();
      return true;
    } catch (const Unsupported& e) {
      result_.status = Status::skipped;
      result_.reason = e.what();
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::usage) throw;
      result_.status = Status::failed;
      result_.reason = e.what();
    }
    return false;
  }

  void prepare() {
    if (result_.nodes > 1)
      throw Unsupported(fmt::format("CUDA IPC does not reach from host to host: {} ranks are on {}",
                                    asked_.c.ranks, result_.nodes));
    const KernelTask task = kernel_task(asked_.c);
    peers_.together([this] { require_memory(); });
    collective_.emplace(gpus_, peers_, task, asked_.tuning);
    const HostPatience patience{.timeout = context_.timeout};
    collective_->set_looks(patience.looks());
    peers_.together([&] {
      operation_.emplace(*collective_,
                         DeviceOperation::What{.payload = task.payload,
                                               .placement = task.placement,
                                               .patience = patience.longer(),
                                               .evicts = asked_.c.measure.cache == CacheState::cold,
                                               .hooks = hooks_});
    });
    if (split_variant(asked_.c.algorithm).launching == Launching::graph)
      peers_.together([&] { operation_->capture(); });
    near_.emplace(comm_.handle());
  }

  /// Buffers, and as much again for what a kernel may copy aside.
  void require_memory() const {
    const Bytes size = asked_.c.size();
    const int copies = asked_.c.placement == Placement::in_place ? 2 : 3;
    const std::string obstacle = memory_obstacle(copies_of(size, copies), gpus_[0].free_memory());
    if (!obstacle.empty())
      throw Unsupported(fmt::format("rank {} on GPU {} ({}) {}", peers_.rank(),
                                    gpus_[0].facts().ordinal, gpus_[0].facts().pci, obstacle));
  }

  void measure_all() {
    const Schedule& schedule = collective_->shape();
    result_.rounds = schedule.steps;
    result_.chunk = Bytes{Partition(schedule, asked_.c.count).largest().value *
                          static_cast<std::int64_t>(size_of(asked_.c.dtype))};
    result_.device = gpus_[0].facts().name;
    result_.devices = asked_.c.ranks;
    result_.tuning = fmt::format("processes={} {}", asked_.c.ranks, collective_->tuning());
    result_.reason = disproof(asked_.c.algorithm, schedule);
    if (result_.reason.empty()) time();
    if (!result_.reason.empty()) result_.status = Status::failed;
  }

  void time() {
    WatchedTeam team(*near_, context_.dog);
    AbsentGpuRank absent(*operation_);
    Operation& mine =
        hooks_.absent_rank == peers_.rank() ? static_cast<Operation&>(absent) : *operation_;
    result_.gpu_before = condition_of_all();
    result_.measurement = measure(team, mine, asked_.c.measure);
    result_.gpu_after = condition_of_all();
    operation_->rewrite_input();
    if (collective_->run_counted()) {
      operation_->settle();
      result_.wire_busiest = collective_->busiest();
    }
    if (!result_.measurement.correct())
      result_.reason = describe(result_.measurement.check, asked_.c.dtype);
  }

  GpuCondition condition_of_all() {
    GpuCondition all;
    for (const GpuCondition& one : peers_.all_of(condition_of(gpus_, 1, monitor_)))
      all = worst(all, one);
    return all;
  }

  /// What peers have open is given back by all together.
  void leave() {
    near_.reset();
    operation_.reset();
    collective_.reset();
  }

  const GpuCase& asked_;
  const CaseContext& context_;
  const TestHooks hooks_ = test_hooks_from_environment();
  Gpus& gpus_;
  const GpuMonitor& monitor_;
  MpiPeers peers_;
  const Communicator& comm_;
  CaseResult result_;
  std::optional<GpuCollective> collective_;
  std::optional<DeviceOperation> operation_;
  std::optional<HostTeam> near_;
};

/// The same, with the rank before words that are about its GPU alone.
Error by_rank(int rank, const Error& e) {
  const std::string_view words = e.what();
  return words.starts_with("rank ") ? e : Error(e.kind(), fmt::format("rank {}: {}", rank, words));
}

}  // namespace

CaseResult run_gpu_case(const Communicator& comm, const GpuCase& asked, RankGpuOwner& gpu,
                        const CaseContext& context) {
  std::optional<GpuRankCase> one;  // not unwound by what is given up
  try {
    return one.emplace(comm, asked, gpu, context).run();
  } catch (const RankLeft&) {
    while (true) pause();
  } catch (const Unsupported& e) {  // too late for a skipped row: the others are at work
    context.give_up(by_rank(comm.rank(), Error(ErrorKind::lost, e.what())));
    throw;
  } catch (const Error& e) {
    context.give_up(by_rank(comm.rank(), e));
    throw;
  } catch (const std::exception& e) {
    context.give_up(e);
    throw;
  }
}

}  // namespace collmark
