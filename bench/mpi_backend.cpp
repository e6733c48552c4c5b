#include "bench/mpi_backend.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "bench/launcher.hpp"
#include "bench/mpi_support.hpp"
#include "bench/output.hpp"

namespace collmark {
namespace {

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

std::vector<PairLink> MpiBackend::measure_links(int ranks, Bytes copied) {
  return std::get<std::vector<PairLink>>(
      job_.carry_out(LinksOrder{.ranks = ranks, .copied = copied}));
}

}  // namespace collmark
