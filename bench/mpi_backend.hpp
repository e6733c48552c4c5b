/// Ranks are processes of an MPI job: one that we start through mpirun, or the one that we are part of.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/backend.hpp"
#include "bench/mpi_job.hpp"

namespace collmark {

class MpiBackend : public Backend {
 public:
  explicit MpiBackend(const BackendOptions& options) : job_(options) {}

  [[nodiscard]] std::string_view name() const override { return "mpi"; }
  [[nodiscard]] Availability availability() const override { return job_.availability(); }
  /// Nothing: which ranks share a host is known to the ranks, and each host answers for itself.
  [[nodiscard]] Bytes memory_needed(const Case&) const override { return {}; }
  [[nodiscard]] Bytes memory_available() const override { return {}; }
  void begin_launch(int ranks) override { job_.begin_launch(ranks); }
  [[nodiscard]] CaseResult run(const Case& c) override { return job_.run(c); }
  /// Between all pairs of ranks [0, ranks), as many as begin_launch() was told.  Throws as MpiJob::carry_out.
  [[nodiscard]] std::vector<PairLink> measure_links(int ranks, Bytes copied);
  void end() override { job_.end(); }
  void interrupt() noexcept override { job_.interrupt(); }

 private:
  MpiJob job_;
};

/// Runs `measure` in the process that plans, prints and writes for a job that was joined. An error that leaves
/// ranks behind, which wait for what will not come, ends this process at once: its end, which the launcher
/// sees, ends them.
[[nodiscard]] int as_rank_0(const std::function<int()>& measure);

/// Is this process part of a job that `--backend mpi` joins? One that srun has started alone is not: it may come from
/// an interactive shell, where mpirun is started as anywhere else.
[[nodiscard]] bool joins_mpi_job();

}  // namespace collmark
