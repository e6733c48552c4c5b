/// Communicators of the stub of NCCL, and what it is told to do wrong, by the environment:
///
///   COLLMARK_STUB_NCCL_FAULT=NAME[@K],... each every time, or only the K-th time (from 1) that it could happen
///
///     old                 it is NCCL 2.17.1
///     old_form            it is 2.23.4, which knows no names of functions in NCCL_ALGO
///     no_registration     a buffer cannot be registered
///     hang_init           a communicator is never finished
///     hang_abort          an abort never ends
///     hang_destroy        a communicator that was finished is never given back
///     new                 it is 2.30.0, which may have several ranks on one GPU
///     init_error          a communicator cannot be made
///     hang                an operation never ends
///     async_error         an operation never ends, and the communicator says that it met an error
///     refuse_algorithm    an algorithm that was asked for is none for the operation
///     other_algorithm     another algorithm runs than the one that was asked for
///     silent              it does not log what it chose
///     wrong               a bit of rank 0's result is flipped
///
/// As NCCL with config.blocking = 0, it is never done at once: the first questions are answered with "in progress", and
/// what a split makes is there when they are answered otherwise. An abort, and the end, come when no work of the communicator is in
/// any stream or graph: NCCL waits for that too.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "kernels/stub_nccl/clique.hpp"

namespace collmark::stub {

/// Of a communicator and of its work in streams and graphs, whichever lives longer.
struct Life {
  std::atomic<bool> aborted{false};
  std::atomic<int> works{0};
};

struct Choice {
  bool forced = false;  // somebody asked for it
  std::string algorithm, protocol;
};

/// A split that is under way.
struct Splitting {
  SplitCall call;
  nccl::Comm* made;  // the caller's
  bool hangs = false;
  Choice choice = {};
};

}  // namespace collmark::stub

namespace collmark::nccl {

struct CommObject {
  std::shared_ptr<stub::Clique> clique;
  cu::Context context = nullptr;
  int questions = 0;  // that are still to be answered with "in progress"
  bool hangs = false, ends = false;
  Result error = Result::success;
  int splits = 0;
  std::optional<stub::Splitting> splitting;
  stub::Choice choice;
  std::shared_ptr<stub::Life> life = std::make_shared<stub::Life>();

  [[nodiscard]] int rank() const { return clique->seat().rank; }
};

}  // namespace collmark::nccl

namespace collmark::stub {

[[nodiscard]] bool happens(const std::string& fault);
/// Reads the environment anew.
void start_over();

/// What NCCL says of the latest error of any communicator.
void set_last_error(const std::string& text);
[[nodiscard]] std::string last_error();

/// Names a communicator, which ranks of any process of this host may join.
[[nodiscard]] std::optional<Token> new_token();
/// A rank of the communicator that `token` names, on the calling thread's current device.
[[nodiscard]] nccl::Comm new_rank(const Token& token, Seat seat);
/// The part of `parent`'s rank in a split. *made is set once state() says so; it stays null for one that is left out.
void split(nccl::Comm parent, int color, int key, nccl::Comm* made);
[[nodiscard]] nccl::Result state(nccl::Comm comm);
void abort(nccl::Comm comm);
void destroy(nccl::Comm comm);

}  // namespace collmark::stub
