#include "bench/gpu_processes_backend.hpp"

#include <fmt/format.h>

#include "bench/launcher.hpp"
#include "bench/mpi_backend.hpp"
#include "bench/nccl_case.hpp"

namespace collmark {

GpuProcessesBackend::GpuProcessesBackend(GpuKernels kernels, const BackendOptions& options)
    : kernels_(kernels), job_(options), availability_(job_.availability()) {
  if (job_.joined() && availability_.here) ask_for_gpus();
}

void GpuProcessesBackend::begin_launch(int ranks) {
  ++launch_;
  job_.begin_launch(ranks);
  asked_ = job_.joined();
}

void GpuProcessesBackend::ask_for_gpus() {
  asked_ = true;
  devices_.clear();
  const MpiAnswer answer = job_.carry_out(GpusOrder{.ranks = job_.ranks(), .kernels = kernels_});
  for (const RankGpu& gpu : std::get<std::vector<RankGpu>>(answer)) {
    if (gpu.rank == 0 && !gpu.library.empty()) devices_.push_back(nccl_line(gpu.library));
    const std::string who = fmt::format("rank {} on {}", gpu.rank, gpu.host);
    if (!gpu.reason.empty() && availability_.here)
      availability_ = {.here = false, .reason = fmt::format("{}: {}", who, gpu.reason)};
    devices_.push_back(fmt::format("{}: {}", who, gpu.device.empty() ? "no GPU" : gpu.device));
  }
}

CaseResult GpuProcessesBackend::run(const Case& c) {
  try {
    if (!asked_) ask_for_gpus();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::absent) throw;
    availability_ = {.here = false, .reason = e.what()};
  }
  if (!availability_.here)
    return {.status = Status::skipped, .reason = availability_.reason, .algorithm = c.algorithm};
  return job_.run(GpuCase{.c = c, .kernels = kernels_, .launch = launch_});
}

bool gpu_ranks_are_processes(const BackendOptions& options) {
  return options.processes || (joins_mpi_job() && launcher()->ranks > 1);
}

}  // namespace collmark
