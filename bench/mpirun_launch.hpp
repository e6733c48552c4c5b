/// Ranks that we start ourselves, through mpirun, and speak to through its standard streams.
///
/// One JSON document a line:
///   to rank 0        {"case": ...}, {"links": ...}    orders; the end of the stream ends the job
///   from rank 0      {"hello": {"processes": ...}}    once, when all ranks are there: pid and host of each
///                    {"result": ...}                  of each order
///   from any rank    {"failure": {"kind": 7, "rank": 2, "what": "..."}}
/// Other lines are the words of somebody else and go to stderr, as all of the ranks' own stderr does.
#pragma once

#include <atomic>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/child_process.hpp"
#include "bench/lost_rank.hpp"
#include "bench/mpi_launch.hpp"

namespace collmark {

class MpirunLaunch final : public MpiLaunch {
 public:
  /// Returns when all ranks are there.
  ///   Throws   Error{absent} if they do not come, with mpirun's own words; Error{interrupted}.
  MpirunLaunch(const ChildCommand& command, const MpiJobOptions& options,
               const std::atomic<bool>& interrupted);
  /// Without end(): lets the ranks end by themselves, if they can.
  ~MpirunLaunch() override;

  [[nodiscard]] MpiAnswer carry_out(const MpiOrder& order) override;
  void end() override;
  void interrupt() noexcept override {}  // `interrupted` says it

 private:
  [[nodiscard]] nlohmann::json answer(const char* key,
                                      std::optional<std::chrono::milliseconds> limit);
  [[nodiscard]] std::optional<nlohmann::json> message(std::chrono::milliseconds wait);
  [[nodiscard]] std::optional<nlohmann::json> message_of(const ChildProcess::Line& line);
  void hear_failures(std::chrono::milliseconds wait);
  void require_no_interrupt();
  void hear(const std::string& line);
  [[noreturn]] void outstayed();
  [[noreturn]] void fail(const RankFailure& first);
  [[noreturn]] void lost();

  MpiJobOptions options_;
  const std::atomic<bool>& interrupted_;
  std::string heard_;                   // the last of what came on stderr
  int ranks_ = 0;                       // of the order that runs
  std::vector<RankProcess> processes_;  // [rank]
  bool broken_ = false;                 // or at its end: of no more use
  bool hung_ = false;                   // a rank has said so
  ChildProcess mpirun_;
};

}  // namespace collmark
