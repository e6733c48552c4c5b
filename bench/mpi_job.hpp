/// The ranks of an MPI job on behalf of a backend: a job that we start through mpirun, or the one that we are part of.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "bench/backend.hpp"
#include "bench/mpi_launch.hpp"
#include "bench/mpirun.hpp"

namespace collmark {

class MpiJob {
 public:
  explicit MpiJob(const BackendOptions& options);

  [[nodiscard]] const Availability& availability() const { return availability_; }
  [[nodiscard]] bool joined() const { return joined_; }
  /// As begin_launch() was told; of a job that was joined, all.
  [[nodiscard]] int ranks() const { return ranks_; }
  /// Fresh processes when the next order comes, if nobody else has started them.  Throws as end(), of those before.
  void begin_launch(int ranks);
  /// Throws as MpiLaunch::carry_out, and Error{absent} if the ranks do not come.
  [[nodiscard]] MpiAnswer carry_out(const MpiOrder& order);
  /// Of a case: ranks that do not come are a skipped row, and the backend is absent from then on.
  [[nodiscard]] CaseResult run(const MpiOrder& order);
  /// Throws as MpiLaunch::end.
  void end();
  void interrupt() noexcept;

 private:
  [[nodiscard]] std::unique_ptr<MpiLaunch> started() const;
  void require_launch();

  BackendOptions options_;
  bool joined_;
  Mpirun mpirun_;
  Availability availability_{.here = true, .reason = ""};
  int ranks_ = 0;
  std::atomic<bool> interrupted_{false};
  std::mutex mutex_;  // guards launch_ against interrupt()
  std::shared_ptr<MpiLaunch> launch_;
};

}  // namespace collmark
