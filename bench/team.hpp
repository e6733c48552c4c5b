/// What a measurement needs of the ranks of one launch, whatever carries them: threads of this
/// process, MPI processes, GPUs. Every rank holds its own Team and all ranks call the same
/// functions in the same order (SPMD).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace collmark {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC: one clock for all ranks of a host
using Nanoseconds = std::chrono::nanoseconds;

/// When a rank began, on its own clock, and whether the agreed time had already passed.
struct Start {
  Clock::time_point at;
  bool late = false;
};

class Team {
 public:
  virtual ~Team() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;

  virtual void barrier() = 0;
  /// Returns on all ranks as close together as the carrier can.
  [[nodiscard]] virtual Start start_together() = 0;
  /// Rank 0's bytes replace everybody's. The same size on every rank.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  /// At rank 0 everybody's bytes in rank order, elsewhere nothing. The same size on every rank.
  [[nodiscard]] virtual std::vector<std::byte> gather(std::span<const std::byte> mine) = 0;
};

/// Rank 0 decides, all ranks learn. Ranks that decided alone would differ, and then hang.
template <class Decide>
[[nodiscard]] auto decided_by_rank_0(Team& team, Decide&& decide) {
  using T = std::invoke_result_t<Decide>;
  static_assert(std::is_trivially_copyable_v<T>);
  T value{};
  if (team.rank() == 0) value = decide();
  team.broadcast(std::as_writable_bytes(std::span<T, 1>(&value, 1)));
  return value;
}

/// At rank 0 the items of rank 0, then those of rank 1, ...; elsewhere nothing.
template <class T>
[[nodiscard]] std::vector<T> gathered_at_rank_0(Team& team, std::span<const T> mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::vector<std::byte> bytes = team.gather(std::as_bytes(mine));
  std::vector<T> all(bytes.size() / sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(T));
  return all;
}

}  // namespace collmark
