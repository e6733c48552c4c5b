/// What the threads of one launch share: how they wait for each other, and one verdict.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#include "collectives/threads.hpp"
#include "collectives/waiting.hpp"

namespace collmark {

struct ThreadTeam::Shared : Waiting {
  Shared(int rank_count, TeamOptions team_options);

  void fail(std::exception_ptr error);

  std::mutex mutex;
  std::exception_ptr first_error;  // guarded by mutex

  struct alignas(kCacheLine) Epoch {
    std::uint64_t value = 0;  // barriers this rank has entered; its own thread's business
  };
  std::vector<Epoch> epochs;                  // [rank]
  std::vector<std::vector<Counter>> arrived;  // [rank][round of the barrier]
  std::vector<Blocked> own_blocked;           // what `blocked` points to
};

}  // namespace collmark
