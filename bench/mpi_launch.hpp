/// The ranks of one MPI job, as the process sees them that plans, prints and writes.
///
///   no launcher         this process ──pipe──> mpirun ──> rank 0 ──MPI──> ranks 1, 2, ...     MpirunLaunch
///   mpirun or srun      this process is rank 0; a thread of it speaks MPI ──> ranks 1, 2, ... join_mpi_job
///
/// Either way whoever plans never waits inside MPI, so that a hang or a lost rank costs the launch and
/// nothing that was finished.
#pragma once

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "bench/backend.hpp"
#include "bench/link_matrix.hpp"
#include "collectives/error.hpp"

namespace collmark {

/// Measure the links between all pairs of ranks [0, ranks).
struct LinksOrder {
  int ranks = 2;
  Bytes copied{1 << 20};  // [1, 2^31)
};

/// Whose kernels run on GPUs.
enum class GpuKernels { ours, nccl };

/// A case whose ranks have a GPU each. That of NCCL concerns all ranks of the job: its communicators are split from one of all.
struct GpuCase {
  Case c = {};
  GpuKernels kernels = GpuKernels::ours;
  int launch = 0;  // nccl: communicators of another launch are made anew
};

/// Ranks [0, ranks) say which GPU is theirs, and which NCCL, if that is to run there.
struct GpusOrder {
  int ranks = 1;
  GpuKernels kernels = GpuKernels::ours;
};
struct RankGpu {
  int rank = 0;
  std::string host = {};
  std::string device = {};   // name, UUID, PCI address, driver; empty: none, and ...
  std::string reason = {};   // ... why not, one line, or why no NCCL
  std::string library = {};  // NCCL and its version; empty: none, or nobody asked
};

/// What the ranks of a job do together, and what comes of it: a CaseResult of a case, links of a LinksOrder, ...
using MpiOrder = std::variant<Case, LinksOrder, GpuCase, GpusOrder>;
using MpiAnswer = std::variant<CaseResult, std::vector<PairLink>, std::vector<RankGpu>>;

/// The case of an order, whoever runs it; null if it is none.
[[nodiscard]] inline const Case* case_of(const MpiOrder& order) {
  if (const auto* const gpu = std::get_if<GpuCase>(&order)) return &gpu->c;
  return std::get_if<Case>(&order);
}

[[nodiscard]] inline int ranks_of(const MpiOrder& order) {
  if (const Case* const c = case_of(order)) return c->ranks;
  if (const auto* const gpus = std::get_if<GpusOrder>(&order)) return gpus->ranks;
  return std::get<LinksOrder>(order).ranks;
}

class MpiLaunch {
 public:
  virtual ~MpiLaunch() = default;
  /// Throws Error{timed_out, lost, interrupted}; after that the launch is of no more use.
  [[nodiscard]] virtual MpiAnswer carry_out(const MpiOrder& order) = 0;
  /// No more orders: returns when the ranks have left MPI, and need not be called for a launch that has failed.
  ///   Throws   Error{timed_out, lost, interrupted} that names who has not, where that is known
  virtual void end() = 0;
  /// From another thread: carry_out() ends, now or when it is called next.
  virtual void interrupt() noexcept = 0;
};

/// Why a rank cannot go on.
struct RankFailure {
  ErrorKind kind = ErrorKind::lost;
  int rank = 0;
  std::string what = {};
};

/// What every rank of a job must know.
struct MpiJobOptions {
  std::chrono::milliseconds timeout{30'000};  // of any single wait
};

/// How long ranks may take from their start, over the network too, until all of them know each other.
[[nodiscard]] std::chrono::milliseconds start_limit(const MpiJobOptions& options);
/// And how long in MPI_Finalize, where each waits for whatever the others still do.
[[nodiscard]] std::chrono::milliseconds end_limit(const MpiJobOptions& options);

}  // namespace collmark
