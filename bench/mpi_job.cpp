#include "bench/mpi_job.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "bench/launcher.hpp"
#include "bench/mpi_backend.hpp"
#include "bench/mpi_support.hpp"
#include "bench/mpirun_launch.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

Availability absent(std::string reason) { return {.here = false, .reason = std::move(reason)}; }

}  // namespace

MpiJob::MpiJob(const BackendOptions& options) : options_(options), joined_(joins_mpi_job()) {
  if (mpi_library().empty()) {
    availability_ = absent("not built into this version");
  } else if (joined_) {
    launch_ = options.job ? options.job : join_mpi_job({.timeout = options.timeout});
    ranks_ = launcher()->ranks;
  } else {
    mpirun_ = find_mpirun(mpi_library());
    if (mpirun_.path.empty()) availability_ = absent("no mpirun on PATH that can be started");
  }
}

void MpiJob::begin_launch(int ranks) {
  if (joined_) return;  // nobody can start its processes anew
  end();
  ranks_ = ranks;
  const std::lock_guard lock(mutex_);
  launch_.reset();
}

std::unique_ptr<MpiLaunch> MpiJob::started() const {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const Host here = this_host();
  const ChildCommand command = mpirun_command(
      mpirun_,
      {.ranks = ranks_,
       .cores = ranks_may_be_elsewhere(options_.hostfile) ? 0 : here.cores.size(),
       .physical_cores = here.physical_cores,
       .hostfile = options_.hostfile,
       .arguments = options_.launcher_arguments},
      {program, "mpi-rank", "--timeout", fmt::format("{}", options_.timeout.count())});
  return std::make_unique<MpirunLaunch>(command, MpiJobOptions{.timeout = options_.timeout},
                                        interrupted_);
}

void MpiJob::require_launch() {
  if (launch_) return;
  auto launch = started();
  const std::lock_guard lock(mutex_);
  launch_ = std::move(launch);
}

MpiAnswer MpiJob::carry_out(const MpiOrder& order) {
  require_launch();
  return launch_->carry_out(order);
}

CaseResult MpiJob::run(const MpiOrder& order) {
  try {
    require_launch();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::absent) throw;
    availability_ = absent(e.what());
    return {.status = Status::skipped, .reason = e.what(), .algorithm = case_of(order)->algorithm};
  }
  return std::get<CaseResult>(launch_->carry_out(order));
}

void MpiJob::end() {
  if (launch_) launch_->end();
}

void MpiJob::interrupt() noexcept {
  interrupted_.store(true, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (launch_) launch_->interrupt();
}

}  // namespace collmark
