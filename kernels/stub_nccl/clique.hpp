/// What the stub of NCCL has instead of NCCL's connections: a board that all ranks of a communicator see, in whatever
/// processes of one host they are, and on which each says where that lies which it gives to the others.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "kernels/driver_abi.hpp"
#include "kernels/stub_driver/shared_memory.hpp"
#include "kernels/stub_nccl/work.hpp"

namespace collmark::stub {

/// By which a rank finds its communicator.
using Token = cu::IpcHandle;

inline constexpr int kMostRanks = 32, kMostSplits = 256;

/// A rank's part in a split.
struct SplitCall {
  int number = 0;  // of the split, from 0: all ranks split in the same order
  int color = 0, key = 0;
};
/// What comes of it.
struct SplitPlace {
  Token token = {};
  Seat seat = {};
};

/// As one rank has it. Nothing here waits for other ranks but meet().
class Clique {
 public:
  /// A new one, which is there for as long as the memory.  Null if there is no room.
  [[nodiscard]] static std::unique_ptr<SharedMemory> new_board();

  /// Joins.  Null if whoever has made it is gone.
  [[nodiscard]] static std::unique_ptr<Clique> join(const Token& token, Seat seat);

  [[nodiscard]] Seat seat() const { return seat_; }
  /// All ranks have joined.
  [[nodiscard]] bool complete() const;

  /// In the rank's stream: does the work together with the others, as a kernel does. Returns without them once `aborted`.
  void meet(const Work& work, const std::atomic<bool>& aborted);

  void call_split(const SplitCall& call);
  /// Empty until all have called; a seat without ranks for a color of none.
  [[nodiscard]] std::optional<SplitPlace> place_in_split(const SplitCall& call);

 private:
  struct Board;
  struct Split;
  Clique(std::unique_ptr<SharedMemory> memory, Seat seat)
      : memory_(std::move(memory)), seat_(seat) {}
  [[nodiscard]] Board& board() const;

  std::unique_ptr<SharedMemory> memory_;
  std::vector<std::unique_ptr<SharedMemory>> children_;  // that this rank has made
  Seat seat_;
  std::uint64_t met_ = 0;  // rounds
};

}  // namespace collmark::stub
