/// One rank's buffers and the collective that works on them, wherever they have to lie.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "bench/backend.hpp"
#include "bench/mpi/rank_collective.hpp"
#include "collectives/pages.hpp"

namespace collmark {

struct RankWork {
  PageBuffer input = {}, output = {};  // empty where the collective brings them, and in place
  RankBuffers where = {};
  std::unique_ptr<RankCollective> collective = {};
};

/// In memory of this process alone, touched before `make` sees it.
///   Throws   std::bad_alloc, and what `make` throws.
[[nodiscard]] RankWork work_on_own_pages(
    const Case& c, const std::function<std::unique_ptr<RankCollective>(const RankBuffers&)>& make);

/// In a shared-memory window. Called by all ranks of `comm`.
///   Throws   as WindowCollective.
[[nodiscard]] RankWork work_in_window(const Communicator& comm, const Schedule& schedule,
                                      const Case& c, std::chrono::milliseconds timeout);

}  // namespace collmark
