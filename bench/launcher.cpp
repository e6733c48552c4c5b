#include "bench/launcher.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "bench/mpi_support.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

struct Variables {
  const char* name;
  const char* size;
  const char* rank;
};

// Those of Slurm come last, since an mpirun inside of a job passes them on. A batch script has SLURM_NTASKS and
// SLURM_PROCID too, though nobody launched it N times: only srun sets the size of a step.
constexpr std::array kLaunchers{
    Variables{"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    Variables{"MVAPICH's mpirun", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
    Variables{"mpiexec", "PMI_SIZE", "PMI_RANK"},
    Variables{"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
};

std::string_view text_of(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

/// Empty if the variable is not set, or not as a launcher sets it.
std::optional<int> number(const char* variable, int least) {
  const std::string_view text = text_of(variable);
  int value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || value < least)
    return std::nullopt;
  return value;
}

std::optional<int> size_of_job(const Variables& v) { return number(v.size, 1); }
std::optional<int> rank_in_job(const Variables& v) { return number(v.rank, 0); }

/// Ignored, such a variable would let the copies of a broken launch run side by side.
void refuse_garbage(const char* variable, const std::optional<int>& value) {
  const std::string_view text = text_of(variable);
  if (text.empty() || value) return;
  throw Error(ErrorKind::usage,
              fmt::format("{}='{}' is nothing that a launcher sets; unset it to run alone",
                          variable, text));
}

}  // namespace

std::optional<Launcher> launcher() {
  for (const Variables& v : kLaunchers) {
    const std::optional<int> ranks = size_of_job(v);
    const std::optional<int> rank = rank_in_job(v);
    if (ranks && rank) return Launcher{v.name, v.size, *ranks, *rank};
  }
  return std::nullopt;
}

void refuse_launcher() {
  for (const Variables& v : kLaunchers) {
    refuse_garbage(v.size, size_of_job(v));
    refuse_garbage(v.rank, rank_in_job(v));
  }
  const std::optional<Launcher> job = launcher();
  if (!job || job->ranks <= 1) return;
  throw Error(ErrorKind::absent,
              fmt::format("started as rank {} of {} by {} ({}={}), but {} and would run {} "
                          "separate copies; start it "
                          "once, without a launcher",
                          job->rank, job->ranks, job->name, job->size_variable, job->ranks,
                          mpi_library().empty() ? "this build has no MPI backend"
                                                : "only `sweep` with `--backend mpi` or `cuda` and "
                                                  "`links` with `--backend mpi` join a "
                                                  "job; this is another command",
                          job->ranks));
}

}  // namespace collmark
