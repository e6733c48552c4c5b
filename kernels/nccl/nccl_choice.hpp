/// What NCCL is made to choose, and what it says it has chosen.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/schedule.hpp"
#include "kernels/nccl/nccl.hpp"

namespace collmark {

/// In NCCL's spelling, "Ring" and "LL128"; empty: NCCL chooses.
struct NcclChoice {
  std::string algorithm = {}, protocol = {};
  [[nodiscard]] bool is_forced() const { return !algorithm.empty() || !protocol.empty(); }
};

/// Variables of the environment, from construction to destruction. Nothing else may read or set any meanwhile.
class Environment {
 public:
  Environment() = default;
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  void set(const std::string& name, const std::string& value);

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

/// In force for the communicators that are made while it lives: NCCL reads NCCL_ALGO and NCCL_PROTO whenever it makes one
/// (src/graph/tuning.cc, ncclTopoTuneModel).
class ForcedChoice {
 public:
  ForcedChoice(const Nccl& nccl, Collective collective, const NcclChoice& choice);

  /// What NCCL_ALGO or NCCL_PROTO is set to: "allreduce:Ring" since 2.24, "Ring" before, which took the longer form for the
  /// name of an algorithm that there is none of.
  ///   Source   parseList in the same file; for 2.24, NCCL's user guide, Environment Variables, NCCL_ALGO
  [[nodiscard]] static std::string setting(int version, Collective collective,
                                           const std::string& value);

 private:
  Environment environment_;
};

/// Listens to what NCCL logs of the operations that are queued while it lives.
class TuningLog {
 public:
  explicit TuningLog(const Nccl& nccl);
  ~TuningLog();
  TuningLog(const TuningLog&) = delete;
  TuningLog& operator=(const TuningLog&) = delete;

  struct Ran {
    std::string algorithm, protocol;  // in lower case
    int channels = 0;
  };
  /// Of the latest operation; empty if NCCL did not say.
  [[nodiscard]] std::optional<Ran> ran() const;
  /// Of a log.
  [[nodiscard]] static std::optional<Ran> parse(std::string_view text);

 private:
  const Nccl& nccl_;
  std::string path_;  // empty: it does not listen
  std::optional<Environment> environment_;
};

}  // namespace collmark
