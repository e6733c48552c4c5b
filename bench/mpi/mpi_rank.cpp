#include "bench/mpi/mpi_rank.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "bench/launcher.hpp"
#include "bench/mpi/gpu_rank_case.hpp"
#include "bench/mpi/library_algorithms.hpp"
#include "bench/mpi/nccl_rank_case.hpp"
#include "bench/mpi/rank_links.hpp"
#include "bench/mpi_support.hpp"
#include "bench/order_json.hpp"

namespace collmark {
namespace {

using std::chrono::microseconds;

constexpr int kCaseTag = 1;
constexpr microseconds kShortestNap{50}, kLongestNap{5'000};

/// What the launcher has announced and what MPI sees must be the same job.
void require_own_launcher(int ranks) {
  const std::optional<Launcher> job = launcher();
  if (!job || job->ranks == ranks) return;
  throw Error(
      ErrorKind::absent,
      fmt::format("started as rank {} of {} by {} ({}={}), but {} sees a job of {}: start it with "
                  "the mpirun of that library (under srun, with a plugin for it: --mpi=list)",
                  job->rank, job->ranks, job->name, job->size_variable, job->ranks, mpi_library(),
                  ranks));
}

/// Open MPI ends the process in MPI_Init, with exit code 1, where srun has given it nobody to ask for the other ranks.
void require_process_manager() {
  const std::optional<Launcher> job = launcher();
  if (!job || job->name != "srun" || job->ranks == 1) return;
  if (!mpi_library().starts_with("Open MPI") || std::getenv("PMIX_NAMESPACE") != nullptr) return;
  throw Error(ErrorKind::absent,
              fmt::format("srun has started {} processes and no process manager that {} could ask "
                          "for the others: srun --mpi=pmix (or another of --mpi=list)",
                          job->ranks, mpi_library()));
}

RankFailure failure_of(int rank, const std::exception& why) {
  if (const auto* const e = dynamic_cast<const Error*>(&why))
    return {.kind = e->kind(), .rank = rank, .what = e->what()};
  if (dynamic_cast<const std::bad_alloc*>(&why) != nullptr)
    return {.kind = ErrorKind::lost,
            .rank = rank,
            .what = fmt::format("rank {} is out of memory", rank)};
  return {.kind = ErrorKind::broken,
          .rank = rank,
          .what = fmt::format("rank {}: internal error: {}", rank, why.what())};
}

}  // namespace

MpiRank::MpiRank(const MpiJobOptions& options, OnFailure on_failure)
    : timeout_(options.timeout), on_failure_(std::move(on_failure)) {
  require_process_manager();
  dynamic_rules_ = announce_forced_algorithms();
  if (const auto job = launcher()) rank_ = job->rank;  // until MPI says it
  Watchdog starting(start_limit(options),
                    [this](const std::string& what) { on_failure_(hang(what)); });
  const Watched watched(starting, "in MPI_Init and for all ranks to say where they are");
  int provided = 0;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  require_own_launcher(ranks_);
  processes_ = find_processes();
  hosts_ = find_hosts();
  words_ = std::make_shared<LastWords>(hosts_, rank_);
  gpu_ = std::make_unique<RankGpuOwner>(hosts_.below(rank_));
  nccl_ = std::make_unique<RankNccl>(*gpu_, timeout_);
  give_up_ = [this](const std::exception& why) { give_up(failure_of(rank_, why)); };
  dog_ = std::make_unique<Watchdog>(timeout_,
                                    [this](const std::string& what) { give_up(hang(what)); });
}

RankFailure MpiRank::hang(const std::string& what) const {
  return {
      .kind = ErrorKind::timed_out, .rank = rank_, .what = fmt::format("rank {} {}", rank_, what)};
}

void MpiRank::give_up(const RankFailure& failure) const {
  words_->say(failure);
  on_failure_(failure);
}

std::vector<RankProcess> MpiRank::find_processes() const {
  struct Entry {
    int pid;
    std::array<char, 64> host;  // HOST_NAME_MAX
  };
  Entry mine{.pid = getpid(), .host = {}};
  gethostname(mine.host.data(), mine.host.size() - 1);
  // Not gathered at rank 0 alone: Open MPI takes a pair's connections by turns, and if one end had sent a message more,
  // the two directions of a ring of two would meet on one connection from then on.
  std::vector<Entry> all(static_cast<std::size_t>(ranks_));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  if (rank_ != 0) all.clear();
  std::vector<RankProcess> processes;
  for (const Entry& entry : all) processes.push_back({entry.pid, entry.host.data()});
  return processes;
}

/// The lowest rank of a host is its number.
Hosts MpiRank::find_hosts() const {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host);
  int lowest = rank_;
  MPI_Bcast(&lowest, 1, MPI_INT, 0, host);
  MPI_Comm_free(&host);
  Hosts hosts{.of = std::vector<int>(static_cast<std::size_t>(ranks_))};
  MPI_Allgather(&lowest, 1, MPI_INT, hosts.of.data(), 1, MPI_INT, MPI_COMM_WORLD);
  return hosts;
}

MpiAnswer MpiRank::carry_out(const MpiOrder& order) {
  if (ranks_of(order) > ranks_) {
    std::string reason = fmt::format("needs {} ranks, the job has {}", ranks_of(order), ranks_);
    if (const Case* const c = case_of(order))
      return CaseResult{
          .status = Status::skipped, .reason = std::move(reason), .algorithm = c->algorithm};
    throw Error(ErrorKind::usage, reason);
  }
  words_->order_told();
  tell(to_json(order).dump());
  MpiAnswer answer = take_part(order);
  words_->order_done();
  return answer;
}

MpiAnswer MpiRank::carried_out(const Communicator& comm, const MpiOrder& order) {
  const CaseContext context{.hosts = hosts_,
                            .links = links_,
                            .dog = *dog_,
                            .timeout = timeout_,
                            .give_up = give_up_,
                            .dynamic_rules = dynamic_rules_};
  if (const Case* const c = std::get_if<Case>(&order)) return run_case(comm, *c, context);
  if (const auto* const asked = std::get_if<GpuCase>(&order))
    return asked->kernels == GpuKernels::nccl ? run_nccl_case(comm, *asked, *gpu_, *nccl_, context)
                                              : run_gpu_case(comm, asked->c, *gpu_, context);
  if (const auto* const gpus = std::get_if<GpusOrder>(&order)) {
    RankNccl* const nccl = gpus->kernels == GpuKernels::nccl ? nccl_.get() : nullptr;
    return gpus_of_all(comm, own_gpu(*gpu_, nccl), *dog_);
  }
  return measure_rank_links(comm, std::get<LinksOrder>(order), context);
}

MpiAnswer MpiRank::take_part(const MpiOrder& order) {
  std::optional<Communicator> comm;
  {
    const Watched watched(*dog_, "for the other ranks to form a group");
    const auto* const on_gpus = std::get_if<GpuCase>(&order);
    const bool concerns_all = on_gpus != nullptr && on_gpus->kernels == GpuKernels::nccl;
    comm.emplace(MPI_COMM_WORLD, concerns_all ? ranks_ : ranks_of(order));
  }
  if (!comm->member()) return {};
  MpiAnswer answer = carried_out(*comm, order);
  const Watched watched(*dog_, "for the other ranks to leave their group");
  comm.reset();
  return answer;
}

void MpiRank::follow() {
  for (std::string text = hear(); !text.empty(); text = hear()) {
    (void)take_part(order_from_json(nlohmann::json::parse(text)));
    words_->order_done();
  }
  finish();
}

void MpiRank::end() {
  tell("");
  finish();
}

void MpiRank::finish() {
  nccl_->end();
  Watchdog ending(end_limit({timeout_}),
                  [this](const std::string& what) { on_failure_(hang(what)); });
  const Watched watched(ending, "in MPI_Finalize for the other ranks");
  MPI_Finalize();
}

void MpiRank::tell(std::string_view text) {
  const Watched watched(*dog_, "for the other ranks to take an order");
  for (int r = 1; r < ranks_; ++r)
    check_mpi(
        MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, r, kCaseTag, MPI_COMM_WORLD),
        "MPI_Send");
}

/// A blocking receive would spin on a core that others measure on.
std::string MpiRank::hear() const {
  int there = 0;
  MPI_Status status;
  microseconds nap = kShortestNap;
  while (true) {
    check_mpi(MPI_Iprobe(0, kCaseTag, MPI_COMM_WORLD, &there, &status), "MPI_Iprobe");
    if (there != 0) break;
    std::this_thread::sleep_for(nap);
    nap = std::min(2 * nap, kLongestNap);
  }
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  std::string text(static_cast<std::size_t>(size), '\0');
  check_mpi(MPI_Recv(text.data(), size, MPI_CHAR, 0, kCaseTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
            "MPI_Recv");
  return text;
}

}  // namespace collmark
