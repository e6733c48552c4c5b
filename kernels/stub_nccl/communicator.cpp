#include "kernels/stub_nccl/communicator.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/stub_driver/faults.hpp"
#include "kernels/stub_nccl/driver.hpp"

namespace collmark::stub {
namespace {

using nccl::Comm;
using nccl::Result;

constexpr int kQuestions = 3;

constexpr std::chrono::seconds kLongestEnd{20};

struct Everything {
  std::mutex mutex;
  std::optional<Faults> faults;
  std::string last_error;
  std::vector<std::unique_ptr<SharedMemory>>
      boards;  // that ids name: who knows one may come at any time
};
Everything& all() {
  static auto* const one = new Everything;  // streams may outlive whatever is destroyed at the end
  return *one;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// As NCCL since 2.24: "allreduce:Ring".
std::string without_function(const std::string& text) { return text.substr(text.find(':') + 1); }

/// What the environment says. Empty, and the communicator has met an error, if it cannot be read.
std::optional<Choice> choice_for(Comm comm) {
  const std::string algorithm = variable("NCCL_ALGO"), protocol = variable("NCCL_PROTO");
  const bool forced = !algorithm.empty() || !protocol.empty();
  const bool old = happens("old_form");
  if (forced && old == ((algorithm + protocol).find(':') != std::string::npos)) {
    comm->error = Result::invalid_usage;
    set_last_error("Unrecognized token in NCCL_ALGO=" + algorithm + " NCCL_PROTO=" + protocol);
    return std::nullopt;
  }
  return Choice{.forced = forced,
                .algorithm = algorithm.empty() ? "RING" : upper(without_function(algorithm)),
                .protocol = protocol.empty() ? "SIMPLE" : upper(without_function(protocol))};
}

/// Of whoever makes a communicator.
void meet_faults(Comm comm) {
  if (!happens("init_error")) return;
  comm->error = Result::system_error;
  set_last_error("Call to connect failed : Connection refused");
}

Comm joined(const Token& token, Seat seat) {
  auto comm = std::make_unique<nccl::CommObject>();
  comm->questions = kQuestions;
  if (loaded_driver().get_current != nullptr) (void)loaded_driver().get_current(&comm->context);
  comm->clique = Clique::join(token, seat);
  if (comm->clique) return comm.release();
  comm->error = Result::remote_error;
  set_last_error("the process that made the id is gone");
  return comm.release();
}

/// True if the communicator's split is over.
bool go_on_with(Comm parent) {
  Splitting& splitting = *parent->splitting;
  if (splitting.hangs) return false;
  const auto place = parent->clique->place_in_split(splitting.call);
  if (!place) return false;
  if (place->seat.ranks > 0) {
    Comm const made = joined(place->token, place->seat);
    made->context = parent->context;
    made->choice = splitting.choice;
    *splitting.made = made;
  }
  parent->splitting.reset();
  return true;
}

[[noreturn]] void hang() {
  if (loaded_driver().never_ends != nullptr) loaded_driver().never_ends();
  while (true) pause();
}

/// As NCCL does, whatever was configured.
void wait_for_work(Comm comm) {
  const auto begin = std::chrono::steady_clock::now();
  while (comm->life->works > 0) {
    if (std::chrono::steady_clock::now() - begin > kLongestEnd) {
      (void)std::fputs(
          "collmark stub of NCCL: ended while work of the communicator is in a graph or cannot "
          "begin\n",
          stderr);
      std::abort();  // NCCL would never come back
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace

void start_over() {
  const std::lock_guard lock(all().mutex);
  all().faults.emplace("COLLMARK_STUB_NCCL_FAULT");
  all().last_error.clear();
}

bool happens(const std::string& fault) { return all().faults && all().faults->happens(fault); }

void set_last_error(const std::string& text) {
  const std::lock_guard lock(all().mutex);
  all().last_error = text;
}

std::string last_error() {
  const std::lock_guard lock(all().mutex);
  return all().last_error;
}

std::optional<Token> new_token() {
  auto board = Clique::new_board();
  if (!board) return std::nullopt;
  const Token token = board->handle();
  const std::lock_guard lock(all().mutex);
  all().boards.push_back(std::move(board));
  return token;
}

Comm new_rank(const Token& token, Seat seat) {
  Comm const comm = joined(token, seat);
  comm->hangs = happens("hang_init");
  if (auto choice = choice_for(comm)) comm->choice = *choice;
  meet_faults(comm);
  return comm;
}

void split(Comm parent, int color, int key, Comm* made) {
  *made = nullptr;
  const SplitCall call{.number = parent->splits++, .color = color, .key = key};
  parent->questions = 1;
  const bool takes_part = color != nccl::kNoColor;
  parent->splitting = {.call = call, .made = made, .hangs = takes_part && happens("hang_init")};
  if (takes_part) {
    if (auto choice = choice_for(parent)) parent->splitting->choice = *choice;
    meet_faults(parent);
  }
  parent->clique->call_split(call);
}

Result state(Comm comm) {
  if (comm->error != Result::success) return comm->error;
  if (comm->hangs || !comm->clique->complete()) return Result::in_progress;
  if (comm->splitting && !go_on_with(comm)) return Result::in_progress;
  if (comm->ends && comm->life->works > 0) return Result::in_progress;
  if (comm->questions == 0) return Result::success;
  --comm->questions;
  return Result::in_progress;
}

void abort(Comm comm) {
  if (happens("hang_abort")) hang();
  comm->life->aborted.store(true, std::memory_order_release);
  wait_for_work(comm);
  delete comm;
}

void destroy(Comm comm) {
  if (happens("hang_destroy")) hang();
  wait_for_work(comm);
  delete comm;
}

}  // namespace collmark::stub
