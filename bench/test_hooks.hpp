/// Faults on demand, for the tests of what happens then. All are read from the environment:
///
///   COLLMARK_TEST_ABSENT_RANK=R      rank R never takes part in an operation (threads backend)
///   COLLMARK_TEST_CORRUPT=R or R@N   one bit of rank R's result is flipped, after each operation
///                                    or only after its N-th (from 0) of a launch
///   COLLMARK_TEST_START_MS=N         MPI ranks may take so long to find each other
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "bench/operation.hpp"

namespace collmark {

struct TestHooks {
  std::optional<int> absent_rank = {};
  std::optional<int> corrupt_rank = {};
  std::optional<int> corrupt_call = {};
  std::optional<int> start_ms = {};
};

/// Throws Error{usage} for values that are no numbers.
[[nodiscard]] TestHooks test_hooks_from_environment();

/// Thrown by an absent rank's operation: its thread ends quietly, and the others wait for it.
class RankLeft {};

/// The result that a faulty rank may spoil.
struct Output {
  std::byte* data = nullptr;
  Bytes size;
};

/// `operation` itself unless a hook concerns this rank.
[[nodiscard]] std::unique_ptr<Operation> with_faults(std::unique_ptr<Operation> operation,
                                                     const TestHooks& hooks, int rank,
                                                     Output output);

}  // namespace collmark
