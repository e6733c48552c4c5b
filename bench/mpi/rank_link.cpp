#include "bench/mpi/rank_link.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "bench/statistics.hpp"
#include "bench/team.hpp"

namespace collmark {
namespace {

constexpr int kTag = 7;
constexpr int kWarmUps = 3;
constexpr Seconds kFlags{0.02}, kCopies{0.2};  // of measuring, about
constexpr int kLeastFlags = 5, kMostFlags = 500;
constexpr int kLeastCopies = 3, kMostCopies = 15;

constexpr std::chrono::microseconds kLongestNap{1'000};

int fitting(Seconds budget, Seconds one, int least, int most) {
  return static_cast<int>(std::clamp(budget / one, double(least), double(most)));
}

}  // namespace

void Nap::take() {
  std::this_thread::sleep_for(next_);
  next_ = std::min(2 * next_, kLongestNap);
}

QuietBarrier::QuietBarrier(const Communicator& comm) {
  check_mpi(MPI_Ibarrier(comm.handle(), &all_), "MPI_Ibarrier");
}

bool QuietBarrier::passed() {
  int done = 0;
  check_mpi(MPI_Test(&all_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

Seconds RankLink::flag() {
  Seconds trip{};
  for (int i = 0; i < kWarmUps; ++i) trip = round_trip({});
  const int count = told(fitting(kFlags, trip, kLeastFlags, kMostFlags));
  return median_round_trip({}, count) / 2.0;
}

Seconds RankLink::copy(std::span<std::byte> data, Seconds flag) {
  Seconds trip{};
  for (int i = 0; i < kWarmUps; ++i) trip = round_trip(data);  // a fresh connection starts slowly
  return copies(data, flag, told(fitting(kCopies, trip, kLeastCopies, kMostCopies)));
}

Seconds RankLink::copies(std::span<std::byte> data, Seconds flag, int count) {
  const Seconds trip = median_round_trip(data, count);
  return trip > flag ? trip - flag : trip;  // of a few bytes on a busy host the flag may be longer
}

Seconds RankLink::round_trip(std::span<std::byte> data) {
  if (from_) between_();
  const Watched watched(dog_, "for a message over a link that is measured");
  if (!from_) {
    receive(data);
    send({});
    return {};
  }
  const Clock::time_point begin = Clock::now();
  send(data);
  receive({});
  return Clock::now() - begin;
}

Seconds RankLink::median_round_trip(std::span<std::byte> data, int count) {
  std::vector<double> times;  // [s]
  for (int i = 0; i < count; ++i) times.push_back(round_trip(data).count());
  return Seconds{median(std::move(times))};
}

int RankLink::told(int count) {
  const Watched watched(dog_, "to learn how often a link is measured");
  const std::span bytes = std::as_writable_bytes(std::span(&count, 1));
  if (from_)
    send(bytes);
  else
    receive(bytes);
  return count;
}

void RankLink::send(std::span<const std::byte> data) {
  check_mpi(MPI_Send(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer_, kTag, comm_),
            "MPI_Send");
}

void RankLink::receive(std::span<std::byte> data) {
  check_mpi(MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer_, kTag, comm_,
                     MPI_STATUS_IGNORE),
            "MPI_Recv");
}

}  // namespace collmark
