#include "collectives/team.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <condition_variable>
#include <string>
#include <system_error>
#include <thread>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

constexpr std::chrono::seconds kGrace{2};  // for the other ranks to notice that the team has failed

void pin_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  pthread_setaffinity_np(pthread_self(), sizeof set,
                         &set);  // a hint: without it only timings change
}

}  // namespace

ThreadTeam::Shared::Shared(int rank_count, TeamOptions team_options)
    : Waiting(rank_count, this_host().cores,
              {.timeout = team_options.timeout, .pinned = team_options.pin}),
      epochs(static_cast<std::size_t>(ranks)),
      own_blocked(static_cast<std::size_t>(ranks)) {
  const auto rounds = static_cast<std::size_t>(ceil_log2(ranks));
  for (int r = 0; r < ranks; ++r) arrived.emplace_back(rounds);
  for (Blocked& one : own_blocked) blocked.push_back(&one);
}

void ThreadTeam::Shared::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex);
  if (!first_error) first_error = std::move(error);
  int expected = running;
  verdict.compare_exchange_strong(expected, failed, std::memory_order_relaxed);
}

void require_team(int ranks) {
  if (ranks > kMostTeamRanks)
    throw Unsupported(
        fmt::format("at most {} ranks can be threads, not {}", kMostTeamRanks, ranks));
}

ThreadTeam::ThreadTeam(int ranks, TeamOptions options) {
  if (ranks < 1)
    throw Error(ErrorKind::usage, fmt::format("a team needs at least 1 rank, not {}", ranks));
  require_team(ranks);
  shared_ = std::make_shared<Shared>(ranks, options);
}

ThreadTeam::~ThreadTeam() = default;

int ThreadTeam::ranks() const { return shared_->ranks; }

bool ThreadTeam::oversubscribed() const { return shared_->crowded; }

void ThreadTeam::run(const std::function<void(int rank)>& body) {
  // What a rank that never comes back may still touch is owned jointly, so leaving it behind is safe.
  struct Done {
    std::mutex mutex;
    std::condition_variable changed;
    int finished = 0;
    std::function<void(int)> body;
  };
  const auto done = std::make_shared<Done>();
  done->body = body;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(ranks()));
  const auto start = [&](int rank) {
    threads.emplace_back([shared = shared_, done, rank] {
      if (shared->pinned)
        pin_to(shared->cores[static_cast<std::size_t>(rank) % shared->cores.size()]);
      try {
        done->body(rank);
      } catch (const Abandoned&) {
      } catch (...) {
        shared->fail(std::current_exception());
      }
      const std::lock_guard lock(done->mutex);
      ++done->finished;
      done->changed.notify_all();
    });
  };
  try {
    for (int rank = 0; rank < ranks(); ++rank) start(rank);
  } catch (const std::system_error&) {  // those that run find out, and come back
    shared_->fail(std::make_exception_ptr(Unsupported(
        fmt::format("the system starts {} threads here, not {}", threads.size(), ranks()))));
  }

  std::unique_lock lock(done->mutex);
  const auto all_finished = [&] { return done->finished == static_cast<int>(threads.size()); };
  bool all = false;
  while (!(all = done->changed.wait_for(lock, std::chrono::milliseconds(200), all_finished)) &&
         shared_->verdict.load(std::memory_order_relaxed) == Shared::running) {
  }
  if (!all) all = done->changed.wait_for(lock, kGrace, all_finished);
  lock.unlock();
  for (std::thread& t : threads) all ? t.join() : t.detach();

  const std::lock_guard guard(shared_->mutex);
  if (shared_->first_error) std::rethrow_exception(shared_->first_error);
  if (!all)
    throw Error(ErrorKind::timed_out, "a rank did not come back after the others had stopped");
}

void ThreadTeam::barrier(int rank) {
  Shared& s = *shared_;
  s.leave_if_stopped();  // ranks that never wait long must notice too
  const std::uint64_t epoch = ++s.epochs[static_cast<std::size_t>(rank)].value;
  for (int round = 0, distance = 1; distance < s.ranks; ++round, distance *= 2) {
    const int to = mod(rank + distance, s.ranks), from = mod(rank - distance, s.ranks);
    s.publish(s.arrived[static_cast<std::size_t>(to)][static_cast<std::size_t>(round)], epoch);
    s.await(s.arrived[static_cast<std::size_t>(rank)][static_cast<std::size_t>(round)], epoch,
            {.rank = rank, .peer = from, .step = kInBarrier, .deed = Deed::arrive});
  }
}

void ThreadTeam::interrupt() noexcept {
  int expected = Shared::running;
  shared_->verdict.compare_exchange_strong(expected, Shared::interrupted,
                                           std::memory_order_relaxed);
}

bool ThreadTeam::interrupted() const noexcept {
  return shared_->verdict.load(std::memory_order_relaxed) == Shared::interrupted;
}

}  // namespace collmark
