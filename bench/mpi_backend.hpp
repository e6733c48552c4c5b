/// Ranks are processes of an MPI job: one that we start through mpirun, or the one that we are part of.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "bench/backend.hpp"
#include "bench/launcher.hpp"
#include "bench/mpi_launch.hpp"
#include "bench/mpirun.hpp"

namespace collmark {

class MpiBackend : public Backend {
 public:
  explicit MpiBackend(const BackendOptions& options);

  [[nodiscard]] std::string_view name() const override { return "mpi"; }
  [[nodiscard]] Availability availability() const override { return availability_; }
  /// Nothing: which ranks share a host is known to the ranks, and each host answers for itself.
  [[nodiscard]] Bytes memory_needed(const Case&) const override { return {}; }
  [[nodiscard]] Bytes memory_available() const override { return {}; }
  void begin_launch(int ranks) override;
  [[nodiscard]] CaseResult run(const Case& c) override;
  /// Between all pairs of as many ranks as begin_launch() was told.  Throws as run(), and Error{absent} if
  /// the ranks do not come.
  [[nodiscard]] std::vector<PairLink> measure_links(Bytes copied);
  void interrupt() noexcept override;

 private:
  [[nodiscard]] std::unique_ptr<MpiLaunch> started() const;
  void require_launch();

  BackendOptions options_;
  bool joined_;
  Mpirun mpirun_;
  Availability availability_{.here = true, .reason = ""};
  int ranks_ = 0;  // of the launch
  std::atomic<bool> interrupted_{false};
  std::mutex mutex_;  // guards launch_ against interrupt()
  std::unique_ptr<MpiLaunch> launch_;
};

/// Runs `measure` in the process that plans, prints and writes for a job that was joined. An error that leaves
/// ranks behind, which wait for what will not come, ends this process at once: its end, which the launcher
/// sees, ends them.
[[nodiscard]] int as_rank_0(const std::function<int()>& measure);

/// Is this process part of a job that `--backend mpi` joins? One that srun has started alone is not: it may come from
/// an interactive shell, where mpirun is started as anywhere else.
[[nodiscard]] bool joins_mpi_job();

}  // namespace collmark
