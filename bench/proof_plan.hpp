/// Which operations of which kernels are compared with the reference, in what order.
///
///   pieces   links of 2 slots of 64 bytes, and shares of 7 slots: what a link carries wraps around its slots three times,
///            so that every wait for a slot and every count is needed
///            every kernel, with one of the algorithms that it runs: every dtype, operator, placement and number of ranks; the
///            interpreter with one of each collective
///            other algorithms that the same kernel runs: every dtype and number of ranks, operators and placements by turns
///   large    a buffer of --size as kernels are launched without a word, where whole packs in batches move it: every kernel
///            and dtype once
///   small    none, one, a few elements: every kernel, dtype and number of ranks
///
/// So that a proof that is cut off has seen some of everything, each kernel with each dtype comes first, on the most ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/backend.hpp"
#include "kernels/kernel_job.hpp"

namespace collmark {

/// A kernel by name: "ring/simple", "one_shot/LL", "ring_interpreted".
struct KernelPick {
  Collective collective = Collective::all_reduce;
  KernelName name;
  bool hand_written = true;
};

/// Of these names, or of all there are.  Throws Error{usage} for names that nobody knows.
[[nodiscard]] std::vector<KernelPick> kernel_picks(const std::vector<std::string>& names,
                                                   std::optional<Collective> only);

struct ProofWish {
  std::vector<KernelPick> kernels;
  std::vector<int> ranks;
  std::vector<Dtype> dtypes;
  std::vector<ReduceOp> operators;
  std::vector<Placement> placements;
  Bytes large;
};

struct ProofCase {
  std::size_t kernel = 0;  // of the wish
  KernelTask task;
  GpuTuning tuning;
};

[[nodiscard]] std::vector<ProofCase> proof_plan(const ProofWish& wish);

/// "all_reduce ring, 4 ranks, f32 sum in place, 57344 bytes"
[[nodiscard]] std::string words(const ProofCase& c);

}  // namespace collmark
