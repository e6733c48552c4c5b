#include "bench/mpi_backend.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "bench/mpi_support.hpp"
#include "bench/mpirun_launch.hpp"
#include "bench/output.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

Availability absent(std::string reason) { return {.here = false, .reason = std::move(reason)}; }

bool leaves_ranks(const Error& e) {
  return e.kind() == ErrorKind::timed_out || e.kind() == ErrorKind::lost ||
         e.kind() == ErrorKind::interrupted;
}

}  // namespace

int as_rank_0(const std::function<int()>& measure) {
  try {
    return measure();
  } catch (const Error& e) {
    if (!leaves_ranks(e)) throw;
    flush_output();
    say(fmt::format("collmark: {}\n", e.what()));
    std::_Exit(exit_code(e.kind()));
  }
}

bool joins_mpi_job() {
  if (mpi_library().empty()) return false;
  const std::optional<Launcher> job = launcher();
  return job && (job->ranks > 1 || job->name != "srun");
}

MpiBackend::MpiBackend(const BackendOptions& options)
    : options_(options), joined_(joins_mpi_job()) {
  if (mpi_library().empty()) {
    availability_ = absent("not built into this version");
  } else if (joined_) {
    launch_ = join_mpi_job({.timeout = options.timeout});
  } else {
    mpirun_ = find_mpirun(mpi_library());
    if (mpirun_.path.empty()) availability_ = absent("no mpirun on PATH that can be started");
  }
}

void MpiBackend::begin_launch(int ranks) {
  ranks_ = ranks;
  if (joined_) return;  // nobody can start its processes anew
  const std::lock_guard lock(mutex_);
  launch_.reset();
}

std::unique_ptr<MpiLaunch> MpiBackend::started() const {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const ChildCommand command = mpirun_command(
      mpirun_,
      {.ranks = ranks_,
       .cores = ranks_may_be_elsewhere(options_.hostfile) ? 0 : this_host().cores.size(),
       .hostfile = options_.hostfile,
       .arguments = options_.launcher_arguments},
      {program, "mpi-rank", "--timeout", fmt::format("{}", options_.timeout.count())});
  return std::make_unique<MpirunLaunch>(command, MpiJobOptions{.timeout = options_.timeout},
                                        interrupted_);
}

void MpiBackend::require_launch() {
  if (launch_) return;
  auto launch = started();
  const std::lock_guard lock(mutex_);
  launch_ = std::move(launch);
}

std::vector<PairLink> MpiBackend::measure_links(Bytes copied) {
  require_launch();
  return std::get<std::vector<PairLink>>(
      launch_->carry_out(LinksOrder{.ranks = ranks_, .copied = copied}));
}

CaseResult MpiBackend::run(const Case& c) {
  try {
    require_launch();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::absent) throw;
    availability_ = absent(e.what());
    return {.status = Status::skipped, .reason = e.what(), .algorithm = c.algorithm};
  }
  return std::get<CaseResult>(launch_->carry_out(c));
}

void MpiBackend::interrupt() noexcept {
  interrupted_.store(true, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (launch_) launch_->interrupt();
}

}  // namespace collmark
