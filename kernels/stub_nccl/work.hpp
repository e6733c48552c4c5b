/// What a rank asks of the stub of NCCL, and the arithmetic of it: each rank puts what it gives into one piece of memory,
/// reads everybody's, and works out what it is owed.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/nccl/nccl_abi.hpp"

namespace collmark::stub {

/// One call of one rank.
struct Call {
  enum class What { all_reduce, reduce_scatter, all_gather, broadcast, reduce, send, receive };
  What what = What::all_reduce;
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  nccl::DataType type = nccl::DataType::u8;
  nccl::Op op = nccl::Op::sum;
  int root_or_peer = 0;
};
/// All calls of one rank in one group.
using Work = std::vector<Call>;

[[nodiscard]] std::size_t size_of(nccl::DataType type);

/// Which of how many.
struct Seat {
  int rank = 0, ranks = 1;
};

/// Bytes of what a rank gives, rounded up so that anything may lie behind it.
[[nodiscard]] std::size_t given_size(const Work& work, Seat seat);
void give(const Work& work, Seat seat, std::byte* to);
/// given[rank]: of all ranks. Writes what the one of `seat` is owed; the caller's buffers may be those of its inputs.
void take(const Work& work, Seat seat, const std::vector<const std::byte*>& given);

}  // namespace collmark::stub
