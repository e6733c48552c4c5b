#include "bench/mpi/link_turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/mpi/rank_link.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

using std::chrono::milliseconds;

constexpr int kTag = 8;  // a link's own messages have another
constexpr char kGoesOn = 'g', kEnded = 'e';

/// A sender speaks after at most a quarter of the timeout and one message, which may take the whole.
constexpr double kSpeaks = 0.25, kSilent = 1.4;  // of the timeout

double seconds(milliseconds time) { return static_cast<double>(time.count()) / 1000.0; }

}  // namespace

LinkTurns::LinkTurns(const Communicator& comm, Watchdog& dog, milliseconds timeout)
    : comm_(comm), dog_(dog), timeout_(timeout) {}

void LinkTurns::go_on() {
  if (Clock::now() - told_ > kSpeaks * timeout_) tell_others(kGoesOn);
}

void LinkTurns::end() { tell_others(kEnded); }

void LinkTurns::tell_others(char word) {
  const Watched watched(dog_, "for the other ranks to take a word about a link");
  for (int r = 0; r < comm_.ranks(); ++r)
    if (r != comm_.rank())
      check_mpi(MPI_Send(&word, 1, MPI_CHAR, r, kTag, comm_.handle()), "MPI_Send");
  told_ = Clock::now();
}

void LinkTurns::await(std::vector<int> senders) {
  await_end_of(std::move(senders));
  await_all();
  told_ = Clock::now();
}

void LinkTurns::await_end_of(std::vector<int> senders) {
  std::erase(senders, comm_.rank());
  std::vector<Clock::time_point> heard(static_cast<std::size_t>(comm_.ranks()), Clock::now());
  for (Nap nap; !senders.empty();) {
    int there = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, kTag, comm_.handle(), &there, &status), "MPI_Iprobe");
    if (there != 0) {
      char word = 0;
      check_mpi(
          MPI_Recv(&word, 1, MPI_CHAR, status.MPI_SOURCE, kTag, comm_.handle(), MPI_STATUS_IGNORE),
          "MPI_Recv");
      heard[static_cast<std::size_t>(status.MPI_SOURCE)] = Clock::now();
      if (word == kEnded) std::erase(senders, status.MPI_SOURCE);
      continue;
    }
    for (const int sender : senders)
      if (Clock::now() - heard[static_cast<std::size_t>(sender)] > kSilent * timeout_)
        throw Error(ErrorKind::timed_out,
                    fmt::format("rank {} has waited {} s for rank {} to go on measuring a link",
                                comm_.rank(), kSilent * seconds(timeout_), sender));
    nap.take();
  }
}

void LinkTurns::await_all() {
  const Clock::time_point begin = Clock::now();
  QuietBarrier barrier(comm_);
  for (Nap nap; !barrier.passed(); nap.take())
    if (Clock::now() - begin > timeout_)
      throw Error(ErrorKind::timed_out,
                  fmt::format("rank {} has waited {} s for all ranks to await the next link",
                              comm_.rank(), seconds(timeout_)));
}

}  // namespace collmark
