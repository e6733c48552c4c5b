#include "bench/mpi/gpu_rank_case.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "bench/cuda_names.hpp"
#include "bench/device_operation.hpp"
#include "bench/gpu_case.hpp"
#include "bench/mpi/case_on_gpus.hpp"
#include "bench/mpi/mpi_peers.hpp"
#include "bench/proof.hpp"
#include "bench/variant.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"
#include "collectives/partition.hpp"
#include "kernels/launch.hpp"

namespace collmark {
namespace {

class GpuRankCase {
 public:
  GpuRankCase(const Communicator& comm, const Case& c, RankGpuOwner& gpu,
              const CaseContext& context)
      : case_(c),
        context_(context),
        gpu_(gpu),
        gpus_(gpu.gpus()),
        peers_(comm, context.dog),
        comm_(comm) {}

  CaseResult run() {
    result_ = {.implementation = implementation(gpus_[0]),
               .algorithm = case_.algorithm,
               .nodes = context_.hosts.count(case_.ranks)};
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
                                    case_.ranks, result_.nodes));
    const KernelTask task = kernel_task(case_);
    peers_.together([this] { require_memory(case_, peers_.rank(), gpus_[0]); });
    collective_.emplace(gpus_, peers_, task, case_.tuning);
    const HostPatience patience{.timeout = context_.timeout};
    collective_->set_longest_wait(patience.longest_wait());
    peers_.together([&] {
      operation_.emplace(*collective_,
                         DeviceOperation::What{.payload = task.payload,
                                               .placement = task.placement,
                                               .patience = patience.longer(),
                                               .evicts = case_.measure.cache == CacheState::cold,
                                               .hooks = hooks_});
    });
    if (split_variant(case_.algorithm).launching == Launching::graph) {
      peers_.together([&] { operation_->capture(); });
      operation_->settle();
    }
  }

  void measure_all() {
    const Schedule& schedule = collective_->shape();
    result_.rounds = schedule.steps;
    result_.chunk = Bytes{Partition(schedule, case_.count).largest().value *
                          static_cast<std::int64_t>(size_of(case_.dtype))};
    result_.device = gpus_[0].facts().name;
    result_.devices = case_.ranks;
    result_.tuning = fmt::format("processes={} {}", case_.ranks, collective_->tuning());
    result_.reason = disproof(case_.algorithm, schedule);
    if (result_.reason.empty()) time();
    if (!result_.reason.empty()) result_.status = Status::failed;
  }

  void time() {
    team_ = team_of(comm_, context_);
    time_on_gpus(result_, *operation_, {*team_, peers_, gpu_, case_, context_});
    operation_->rewrite_input();
    if (collective_->run_counted()) {
      operation_->settle();
      result_.wire_busiest = collective_->busiest();
    }
  }

  /// What peers have open is given back by all together.
  void leave() {
    {
      const Watched watched(context_.dog, "for the other ranks to end a case");
      team_.reset();
    }
    operation_.reset();
    collective_.reset();
  }

  const Case& case_;
  const CaseContext& context_;
  const TestHooks hooks_ = test_hooks_from_environment();
  RankGpuOwner& gpu_;
  Gpus& gpus_;
  MpiPeers peers_;
  const Communicator& comm_;
  CaseResult result_;
  std::optional<GpuCollective> collective_;
  std::optional<DeviceOperation> operation_;
  std::unique_ptr<Team> team_;
};

}  // namespace

CaseResult run_gpu_case(const Communicator& comm, const Case& c, RankGpuOwner& gpu,
                        const CaseContext& context) {
  std::optional<GpuRankCase> one;  // not unwound by what is given up
  return or_give_up(comm.rank(), context, [&] { return one.emplace(comm, c, gpu, context).run(); });
}

}  // namespace collmark
