#include "bench/mpi/nccl_rank_case.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "bench/mpi/case_on_gpus.hpp"
#include "bench/mpi/mpi_peers.hpp"
#include "bench/nccl_case.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

class NcclRankCase {
 public:
  NcclRankCase(const Communicator& all, const GpuCase& asked, RankGpuOwner& gpu, RankNccl& nccl,
               const CaseContext& context)
      : case_(asked.c),
        launch_(asked.launch),
        gpu_(gpu),
        nccl_(nccl),
        context_(context),
        comm_(all),
        all_(all, context.dog) {}

  CaseResult run() {
    result_ = {.algorithm = case_.algorithm, .nodes = context_.hosts.count(case_.ranks)};
    try {
      prepare();
    } catch (const Unsupported& e) {
      result_.status = Status::skipped;
      result_.reason = e.what();
      return result_;
    }
    find_members();
    if (is_member()) measure_all();
    return result_;
  }

 private:
  [[nodiscard]] bool is_member() const { return all_.rank() < case_.ranks; }
  [[nodiscard]] Gpu& gpu() const { return gpu_.gpus()[0]; }

  /// Of those that the case is about; all ranks of the job agree that each could.
  template <class Step>
  void together(Step step) {
    all_.together([&] {
      if (is_member()) step();
    });
  }

  /// The same at all ranks: all that can be in the way of a case is agreed on.
  void prepare() {
    nccl_.begin_launch(launch_);
    const NcclCaseTask asked = nccl_case_task(case_);
    wanted_ = asked.group(case_.ranks);
    together([this] { require_memory(case_, all_.rank(), gpu()); });
    group_ = nccl_.group(all_, wanted_);
    result_.implementation = nccl_.library().name();
    together([&] { collective_.emplace(*group_, asked.task, asked.name.buffers); });
    together([&] {
      operation_.emplace(*collective_,
                         DeviceOperation::What{.payload = asked.task.payload,
                                               .placement = case_.placement,
                                               .patience = nccl_.patience(),
                                               .evicts = case_.measure.cache == CacheState::cold,
                                               .hooks = test_hooks_from_environment()});
    });
    try_out(asked.name);
  }

  /// Untimed, as in one process.
  void try_out(const NcclName& name) {
    std::optional<TuningLog> log;  // rank 0 says it: NCCL's does (src/enqueue.cc)
    if (all_.rank() == 0) log.emplace(nccl_.library());
    together_or_drop([&] { run_forced(*collective_, name.choice); });
    if (is_member()) operation_->settle();
    if (name.replayed) {
      together_or_drop([&] { operation_->capture(); });
      if (is_member()) operation_->settle();
    }
    if (log) note_what_ran(result_, log->ran(), name.choice);
    result_.tuning = fmt::format("processes={} {}", case_.ranks, result_.tuning);
  }

  /// A step that only some did leaves ranks of the communicator that wait for others, or count other operations than they.
  template <class Step>
  void together_or_drop(Step step) {
    try {
      together(step);
    } catch (const Unsupported&) {
      if (is_member() && !abandon(*group_, &*operation_))
        throw Error(ErrorKind::timed_out, "a GPU has not come to an end of what NCCL has aborted");
      leave();
      nccl_.drop(wanted_);
      throw;
    }
  }

  /// MPI makes it at all ranks.
  void find_members() {
    const Watched watched(context_.dog, "for the other ranks to form a group");
    members_.emplace(comm_.handle(), case_.ranks);
  }

  void measure_all() {
    MpiPeers peers(*members_, context_.dog);
    team_ = team_of(*members_, context_);
    result_.device = gpu().facts().name;
    result_.devices = case_.ranks;
    time_on_gpus(result_, *operation_, {*team_, peers, gpu_, case_, context_});
    if (!result_.reason.empty()) result_.status = Status::failed;
    leave();
  }

  void leave() {
    {
      const Watched watched(context_.dog, "for the other ranks to end a case");
      team_.reset();
    }
    operation_.reset();
    collective_.reset();
    const Watched watched(context_.dog, "for the other ranks to leave their group");
    members_.reset();
  }

  const Case& case_;
  int launch_;
  RankGpuOwner& gpu_;
  RankNccl& nccl_;
  const CaseContext& context_;
  const Communicator& comm_;
  MpiPeers all_;
  CaseResult result_;
  NcclGroups::Wanted wanted_;
  NcclGroup* group_ = nullptr;  // null at those that are no members
  std::optional<NcclCollective> collective_;
  std::optional<DeviceOperation> operation_;
  std::optional<Communicator> members_;
  std::unique_ptr<Team> team_;
};

/// In words that say what was under way.
Error by_collective(const Case& c, const Error& e) {
  if (e.kind() != ErrorKind::timed_out) return e;
  return Error(e.kind(), fmt::format("NCCL's {} on {} ranks has not come to an end: {}",
                                     name(c.collective), c.ranks, e.what()));
}

}  // namespace

CaseResult run_nccl_case(const Communicator& all, const GpuCase& asked, RankGpuOwner& gpu,
                         RankNccl& nccl, const CaseContext& context) {
  std::optional<NcclRankCase> one;  // not unwound by what is given up
  return or_give_up(all.rank(), context, [&] {
    try {
      return one.emplace(all, asked, gpu, nccl, context).run();
    } catch (const Unsupported&) {
      throw;
    } catch (const Error& e) {
      throw by_collective(asked.c, e);
    }
  });
}

}  // namespace collmark
