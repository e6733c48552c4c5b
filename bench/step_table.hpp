/// The table that a person reads while a bucket sweep runs, and the plans that a dry run shows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/gpu_knobs.hpp"
#include "bench/step_record.hpp"
#include "bench/table.hpp"

namespace collmark {

class StepTable {
 public:
  /// A knob of kernels that is turned differently from case to case gets a column.
  explicit StepTable(const StepConfig& config);

  [[nodiscard]] std::string header() const { return table_.header(); }
  [[nodiscard]] std::string row(const StepRecord& record) const;

 private:
  std::vector<GpuKnob> knobs_;
  Table table_;
};

/// "25 MiB", or "none" for a policy without a cap.
[[nodiscard]] std::string cap_text(const StepCase& c);

/// One line per model, policy, cap and number of ranks: how many buckets, how large, what memory.
[[nodiscard]] std::string plans(std::span<const StepCase> cases);

}  // namespace collmark
