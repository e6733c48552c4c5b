/// Communicators of the stub of NCCL, and what it is told to do wrong, by the environment:
///
///   COLLMARK_STUB_NCCL_FAULT=NAME[@K],... each every time, or only the K-th time (from 1) that it could happen
///
///     old                 it is NCCL 2.17.1
///     old_form            it is 2.23.4, which knows no names of functions in NCCL_ALGO
///     no_registration     a buffer cannot be registered
///     hang_init           a communicator is never finished
///     init_error          a communicator cannot be made
///     hang                an operation never ends
///     async_error         an operation never ends, and the communicator says that it met an error
///     refuse_algorithm    an algorithm that was asked for is none for the operation
///     other_algorithm     another algorithm runs than the one that was asked for
///     silent              it does not log what it chose
///     wrong               a bit of rank 0's result is flipped
///
/// As NCCL with config.blocking = 0, it is never done at once: the first questions are answered with "in progress".
#pragma once

#include <memory>
#include <string>

#include "kernels/stub_nccl/clique.hpp"

namespace collmark::nccl {

struct CommObject {
  std::shared_ptr<stub::Clique> clique;  // null until all ranks of a split have called
  int rank = 0;
  cu::Context context = nullptr;
  int questions = 0;  // that are still to be answered with "in progress"
  bool hangs = false;
  Result error = Result::success;
  int splits = 0;
  bool forced = false;  // the algorithm was asked for
  std::string algorithm, protocol;
};

}  // namespace collmark::nccl

namespace collmark::stub {

[[nodiscard]] bool happens(const std::string& fault);
/// Reads the environment anew.
void start_over();

/// What NCCL says of the latest error of any communicator.
void set_last_error(const std::string& text);
[[nodiscard]] std::string last_error();

/// A rank of the communicator that `id` names, on the calling thread's current device.
[[nodiscard]] nccl::Comm new_rank(const std::string& id, int ranks, int rank);
/// The part of `parent`'s rank in a split; null for one that is left out.
[[nodiscard]] nccl::Comm split(nccl::Comm parent, int color, int key);
[[nodiscard]] nccl::Result state(nccl::Comm comm);

}  // namespace collmark::stub
