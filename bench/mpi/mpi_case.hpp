/// One case of a sweep, as each of its ranks runs it.
#pragma once

#include <chrono>
#include <exception>
#include <functional>

#include "bench/backend.hpp"
#include "bench/mpi/hosts.hpp"
#include "bench/mpi/library_algorithms.hpp"
#include "bench/mpi/model_links.hpp"
#include "bench/watchdog.hpp"
#include "collectives/mpi/communicator.hpp"

namespace collmark {

/// Reports why this rank cannot go on, and never returns: to unwind would be to wait for the other ranks once
/// more, in the destructors of what they share.
using GiveUp = std::function<void(const std::exception& why)>;

struct CaseContext {
  const Hosts& hosts;
  ModelLinks& links;
  Watchdog& dog;
  std::chrono::milliseconds timeout;
  const GiveUp& give_up;
  DynamicRules dynamic_rules;
};

/// Called by the members of `comm`, which are the ranks of `c`. The result is complete at rank 0.
[[nodiscard]] CaseResult run_case(const Communicator& comm, const Case& c,
                                  const CaseContext& context);

}  // namespace collmark
