#include "bench/sweep_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/formula.hpp"
#include "bench/table.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr std::string_view kTimedOut = "timed out";
constexpr std::string_view kLost = "lost";
constexpr std::string_view kBroken = "broken";

/// Why the case cannot run here, one line; empty if it can.
std::string obstacle(const PlannedCase& planned, const Backend& backend) {
  const Case& c = planned.c;
  if (const Availability availability = backend.availability(); !availability.here)
    return availability.reason;
  if (c.count.value == 0 && planned.asked_size.value > 0)
    return fmt::format("{} B is less than one {}", planned.asked_size.value, name(c.dtype));
  if (c.root >= c.ranks) return fmt::format("root {} is not one of {} ranks", c.root, c.ranks);
  return memory_obstacle(backend.memory_needed(c), backend.memory_available());
}

CaseResult skipped(const Case& c, std::string reason) {
  CaseResult result;
  result.status = Status::skipped;
  result.reason = std::move(reason);
  result.algorithm = c.algorithm;
  return result;
}

}  // namespace

SweepTally operator+(const SweepTally& a, const SweepTally& b) {
  return {.ok = a.ok + b.ok,
          .skipped = a.skipped + b.skipped,
          .absent = a.absent + b.absent,
          .wrong = a.wrong + b.wrong,
          .timed_out = a.timed_out + b.timed_out,
          .lost = a.lost + b.lost,
          .broken = a.broken + b.broken};
}

void SweepTally::add(Status status, std::string_view reason) {
  if (status == Status::ok) ++ok;
  if (status == Status::skipped) ++skipped;
  if (status == Status::failed)
    ++(reason.starts_with(kTimedOut) ? timed_out
       : reason.starts_with(kLost)   ? lost
       : reason.starts_with(kBroken) ? broken
                                     : wrong);
}

std::string failure(const Error& e) {
  const std::string_view kind = e.kind() == ErrorKind::timed_out ? kTimedOut
                                : e.kind() == ErrorKind::lost    ? kLost
                                                                 : kBroken;
  return fmt::format("{}: {}", kind, e.what());
}

std::optional<CaseEnd> end_of_case(const std::exception& e) {
  const auto* const error = dynamic_cast<const Error*>(&e);
  if (error == nullptr) return CaseEnd{.reason = fmt::format("{}: {}", kBroken, e.what())};
  if (error->kind() == ErrorKind::interrupted || error->kind() == ErrorKind::usage)
    return std::nullopt;
  if (error->kind() == ErrorKind::absent) return CaseEnd{Status::skipped, e.what()};
  return CaseEnd{.reason = failure(*error)};
}

int exit_status(const SweepTally& tally, Missing missing) {
  if (tally.wrong > 0) return exit_code(ErrorKind::wrong_result);
  if (tally.timed_out > 0) return exit_code(ErrorKind::timed_out);
  if (tally.lost > 0) return exit_code(ErrorKind::lost);
  if (tally.broken > 0) return exit_code(ErrorKind::broken);
  if (tally.absent > 0) return missing == Missing::allowed ? 0 : exit_code(ErrorKind::absent);
  return tally.ok > 0 ? 0 : exit_code(ErrorKind::incomparable);
}

CaseResult Sweep::result_of(const PlannedCase& planned, Backend& backend) {
  std::string reason = obstacle(planned, backend);
  if (!reason.empty()) return skipped(planned.c, std::move(reason));
  try {
    return backend.run(planned.c);
  } catch (const std::exception& e) {
    if (const auto end = end_of_case(e)) {
      CaseResult result = skipped(planned.c, end->reason);
      result.status = end->status;
      report(planned, backend, std::move(result));
    }
    throw;
  }
}

void Sweep::report(const PlannedCase& planned, Backend& backend, CaseResult result) {
  tally_.add(result.status, result.reason);
  if (!backend.availability().here) ++tally_.absent;
  Record record{.run_id = identity_.run_id,
                .launch = planned.launch,
                .seq = planned.seq,
                .time_utc = utc_now(),
                .machine = identity_.machine,
                .backend = std::string(backend.name()),
                .c = planned.c,
                .result = std::move(result)};
  if (record.result.status != Status::skipped) {
    if (const auto formula = closed_form_of(planned.c)) record.wire_formula = formula->busiest;
    if (const auto& link = record.result.link) record.model = model_time(planned.c, *link);
  }
  observer_.finished(record);
}

/// `rest` begins with the first case of the launch.
void Sweep::begin_launch(std::span<const PlannedCase> rest) {
  std::vector<int> most(backends_.size(), 0);
  for (const PlannedCase& planned : rest) {
    if (planned.launch != rest.front().launch) break;
    most[planned.backend] = std::max(most[planned.backend], planned.c.ranks);
  }
  for (std::size_t b = 0; b < backends_.size(); ++b)
    if (most[b] > 0) backends_[b]->begin_launch(most[b]);
}

void Sweep::run(std::span<const PlannedCase> plan, const std::function<bool()>& stopped) {
  int launch = -1;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const PlannedCase& planned = plan[i];
    if (stopped()) throw Error(ErrorKind::interrupted, "interrupted");
    if (planned.launch != launch) begin_launch(plan.subspan(i));
    launch = planned.launch;
    Backend& backend = *backends_[planned.backend];
    observer_.starting(planned);
    report(planned, backend, result_of(planned, backend));
  }
}

}  // namespace collmark
