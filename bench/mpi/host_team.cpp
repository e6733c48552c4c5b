#include "bench/mpi/host_team.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <memory>
#include <new>

#include "bench/statistics.hpp"
#include "collectives/error.hpp"
#include "collectives/mpi/shared_window.hpp"
#include "collectives/schedule.hpp"
#include "topologies/own_cores.hpp"

namespace collmark {
namespace {

constexpr std::chrono::microseconds kLead{2};  // per barrier round, as the threads' agreed start

MPI_Comm on_this_host(MPI_Comm world) {
  MPI_Comm host = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  return host;
}

}  // namespace

HostTeam::HostTeam(MPI_Comm world) : MpiTeam(on_this_host(world)) {
  int all = 0;
  check_mpi(MPI_Comm_size(world, &all), "MPI_Comm_size");
  if (all != ranks())
    throw Error(ErrorKind::usage,
                fmt::format("all {} ranks must be on one host, {} are", all, ranks()));
  // Each rank may see other cores. All must come to the same answer: a start has one barrier or two.
  crowded_ = ranks() > ranks_with_own_core(cores_of_each(handle()));
  if (crowded_) spins_ = 60;

  const int counters = ceil_log2(ranks()) + 2;
  void* mine = nullptr;
  check_mpi(MPI_Win_allocate_shared(static_cast<MPI_Aint>(sizeof(Counter)) * counters +
                                        static_cast<MPI_Aint>(alignof(Counter)),
                                    1, MPI_INFO_NULL, handle(), &mine, &window_),
            "MPI_Win_allocate_shared");
  for (int r = 0; r < ranks(); ++r) {
    MPI_Aint size = 0;
    int unit = 0;
    void* base = nullptr;
    check_mpi(MPI_Win_shared_query(window_, r, &size, &unit, &base), "MPI_Win_shared_query");
    std::size_t space = static_cast<std::size_t>(size);
    void* aligned = std::align(alignof(Counter), sizeof(Counter), base, space);
    arrived_.push_back(static_cast<Counter*>(aligned));
  }
  for (int i = 0; i < counters; ++i) new (arrived_[static_cast<std::size_t>(rank())] + i) Counter;
  check_mpi(MPI_Barrier(handle()), "MPI_Barrier");
}

HostTeam::~HostTeam() {
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
}

void HostTeam::await(Counter& counter, std::uint64_t value) const {
  for (int spin = 0; !counter.reached(value); ++spin)
    if (spin >= spins_) sched_yield();
}

void HostTeam::barrier() {
  ++epoch_;
  for (int round = 0, distance = 1; distance < ranks(); ++round, distance *= 2) {
    arrived_[static_cast<std::size_t>(mod(rank() + distance, ranks()))][round].publish(epoch_);
    await(arrived_[static_cast<std::size_t>(rank())][round], epoch_);
  }
}

Start HostTeam::start_together() {
  barrier();  // all are here: from now on nobody is waited for long
  if (crowded_ || ranks() == 1) return {Clock::now()};
  std::atomic<std::uint64_t>& agreed = arrived_[0][ceil_log2(ranks()) + 1].value;
  if (rank() == 0) {
    const auto start = Clock::now() + kLead * ceil_log2(ranks());
    agreed.store(static_cast<std::uint64_t>(start.time_since_epoch().count()),
                 std::memory_order_relaxed);
  }
  barrier();  // publishes `agreed`
  const Clock::time_point start{
      Clock::duration(static_cast<Clock::rep>(agreed.load(std::memory_order_relaxed)))};
  Clock::time_point now = Clock::now();
  if (now > start) return {now, true};
  while (now < start) now = Clock::now();
  return {now, false};
}

double HostTeam::flag_ns() {
  constexpr int kTrips = 201, kLapsPerTrip = 16;
  std::vector<double> one_way;
  barrier();
  if (rank() > 1 || ranks() < 2) return 0.0;
  const int spare = ceil_log2(ranks());  // the counter behind the barrier's
  Counter& mine = arrived_[static_cast<std::size_t>(rank())][spare];
  Counter& other = arrived_[static_cast<std::size_t>(1 - rank())][spare];
  for (int trip = 0; trip < kTrips; ++trip) {
    const Clock::time_point start = Clock::now();
    for (int lap = 0; lap < kLapsPerTrip; ++lap) {
      ++flags_;
      if (rank() == 0) other.publish(flags_);
      await(mine, flags_);
      if (rank() == 1) other.publish(flags_);
    }
    const std::chrono::duration<double, std::nano> took = Clock::now() - start;
    one_way.push_back(took.count() / (2.0 * kLapsPerTrip));
  }
  return rank() == 0 ? median(one_way) : 0.0;
}

}  // namespace collmark
