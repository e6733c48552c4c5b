/// A case of a sweep in NCCL's words, and what of NCCL stands in the row: shared by one process for all GPUs and a process for
/// each.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "bench/backend.hpp"
#include "bench/device_work.hpp"
#include "bench/nccl_name.hpp"
#include "collectives/catalogue.hpp"
#include "kernels/nccl/nccl_choice.hpp"
#include "kernels/nccl/nccl_collective.hpp"
#include "kernels/nccl/nccl_groups.hpp"

namespace collmark {

/// What NCCL is asked for.
struct NcclCaseTask {
  NcclName name = {};
  NcclTask task = {};

  [[nodiscard]] NcclGroups::Wanted group(int ranks) const {
    return {.ranks = ranks, .collective = task.collective, .choice = name.choice};
  }
};

///   Throws   Unsupported for kernels of ours, and for what NCCL does not do or nobody would learn anything from;
///            Error{usage} as parse_nccl_name
[[nodiscard]] NcclCaseTask nccl_case_task(const Case& c);

/// What is forced cannot be, in NCCL's words; the communicator is of no more use.
class Refused : public Unsupported {
  using Unsupported::Unsupported;
};

/// Queues one operation.
///   Throws   Refused, if NCCL refuses here what is forced: later errors are none of the choice
void run_forced(DeviceCollective& collective, const NcclChoice& choice);

/// Aborts a group whose `work`, unless null, may be under way. False if NCCL does not come to an end of that, or a GPU 2 s later
/// has not all the same: then nothing that they may use can be given back.
[[nodiscard]] bool abandon(NcclGroup& group, DeviceWork* work);

/// Into the columns `tuning` and `algorithm`: what ran, or that NCCL does not say.
void note_what_ran(CaseResult& result, const std::optional<TuningLog::Ran>& ran,
                   const NcclChoice& choice);
/// Of several operations of different sizes, for which NCCL chooses anew: first what `of` them ran, then what else did.
void note_what_ran(CaseResult& result, std::span<const std::optional<TuningLog::Ran>> ran,
                   std::size_t of, const NcclChoice& choice);

/// Of a record: NCCL and the header that it is called by.
[[nodiscard]] std::string nccl_line(const std::string& library);

}  // namespace collmark
