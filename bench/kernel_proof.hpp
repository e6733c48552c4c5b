/// Runs a kernel on the GPUs that there are, and compares what it leaves with the reference, bit for bit.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bench/proof_plan.hpp"
#include "kernels/gpu.hpp"

namespace collmark {

struct ProofResult {
  std::string symbol;  // of the kernel that ran
  std::string tuning;
  std::string wrong;  // the first difference, one line; empty if there is none
};

/// Inputs of earlier cases: of kernel after kernel they are the same.
class HardInputs {
 public:
  /// [rank], of the so-manieth operation.
  [[nodiscard]] std::shared_ptr<const std::vector<ByteBuffer>> of(int ranks, const Payload& payload,
                                                                  int operation);

 private:
  using Key = std::tuple<Dtype, std::int64_t, int>;  // count, operation
  int ranks_ = 0;                                    // of all that are kept
  std::map<Key, std::shared_ptr<const std::vector<ByteBuffer>>> kept_;
};

/// Two operations back to back with fresh inputs (hard_values.hpp), of which nothing is waited for in between.
///   Throws   Unsupported    it cannot run here
///            Error          timed_out with who waited for whom, lost; as GpuClock::finish
[[nodiscard]] ProofResult prove(Gpus& gpus, const ProofCase& c, HardInputs& inputs,
                                std::chrono::milliseconds timeout);

}  // namespace collmark
