/// A job that a launcher started, of which this process is one rank.
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "bench/lost_rank.hpp"
#include "bench/mpi/mpi_rank.hpp"
#include "bench/mpi_support.hpp"
#include "bench/output.hpp"

namespace collmark {
namespace {

constexpr std::chrono::milliseconds kLook{100};  // for what other ranks say

/// Between the thread that plans and the one that speaks MPI. Both own it: one that hangs in MPI outlives
/// the other's interest.
class Desk {
 public:
  explicit Desk(std::chrono::milliseconds timeout) : grace_(grace_of(timeout)) {}

  // --- of the thread that plans
  void await_hello() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_ || failure_; });
    throw_failure();
  }

  MpiAnswer carry_out(const MpiOrder& order) {
    std::unique_lock lock(mutex_);
    order_ = order;
    changed_.notify_all();
    while (!changed_.wait_for(lock, kLook, [this] { return answer_ || failure_ || interrupted_; }))
      hear_others();
    if (failure_ && failure_->kind == ErrorKind::timed_out) await_others(lock);
    throw_failure();
    if (!answer_) throw Error(ErrorKind::interrupted, "interrupted");
    order_.reset();
    return *std::exchange(answer_, std::nullopt);
  }

  void interrupt() {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    changed_.notify_all();
  }

  /// Waits for the other thread to come to an end of the job, or for an interrupt. False if it will not, or not soon: it
  /// hangs, or is in the middle of an order.
  [[nodiscard]] bool close() {
    std::unique_lock lock(mutex_);
    over_ = true;
    changed_.notify_all();
    if (order_) return false;
    interrupted_ = false;  // an earlier one has ended the orders, and lets the job end
    changed_.wait(lock, [this] { return ended_ || hung_ || interrupted_; });
    return ended_;
  }

  /// After close().
  void throw_failure_of_all() {
    std::unique_lock lock(mutex_);
    if (failure_ && failure_->kind == ErrorKind::timed_out) await_others(lock);
    throw_failure();
    if (!ended_) throw Error(ErrorKind::interrupted, "interrupted");
  }

  /// What nobody has been told; empty if all is well.
  [[nodiscard]] std::string untold() {
    const std::lock_guard lock(mutex_);
    return hung_ && failure_ && !told_ ? failure_->what : "";
  }

  // --- of the thread that speaks MPI
  void hello(std::shared_ptr<const LastWords> others) {
    const std::lock_guard lock(mutex_);
    ready_ = true;
    others_ = std::move(others);
    changed_.notify_all();
  }

  /// Empty when there are no more.
  [[nodiscard]] std::optional<MpiOrder> next_order() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return over_ || (order_ && !answer_); });
    return order_;
  }

  void deliver(MpiAnswer answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
    changed_.notify_all();
  }

  void fail(RankFailure failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    changed_.notify_all();
  }

  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  /// And never returns: MPI does not.
  [[noreturn]] void hang(const RankFailure& failure) {
    {
      const std::lock_guard lock(mutex_);
      hung_ = true;
      if (!failure_) failure_ = failure;
      changed_.notify_all();
    }
    while (true) pause();
  }

 private:
  /// Rank 0 may be the one at fault, and never find out.
  void hear_others() {
    for (int r = 1; r < others_->ranks() && !failure_; ++r) failure_ = others_->of(r);
  }

  /// Until none that is new has spoken for the time of grace; then those who have not are named. Of an order all ranks
  /// have a part, if only in forming the group of a case: who is through with it has nothing to say.
  void await_others(std::unique_lock<std::mutex>& lock) {
    const int ranks = others_->ranks();
    std::set<int> heard;
    auto last = std::chrono::steady_clock::now();
    while (static_cast<int>(heard.size()) < ranks && !interrupted_ &&
           std::chrono::steady_clock::now() - last < grace_) {
      const std::size_t before = heard.size();
      for (int r = 0; r < ranks; ++r)
        if (r == 0 ? hung_ : !is_awaited(r) || others_->of(r)) heard.insert(r);
      if (heard.size() > before) last = std::chrono::steady_clock::now();
      changed_.wait_for(lock, kLook);
    }
    failure_->what += silent_ranks(ranks, heard, grace_);
  }

  [[nodiscard]] bool is_awaited(int rank) const {
    return others_->hears(rank) && !(order_ && others_->is_idle(rank));
  }

  void throw_failure() {
    if (!failure_) return;
    told_ = true;
    throw Error(failure_->kind, failure_->what);
  }

  std::mutex mutex_;  // guards all
  std::condition_variable changed_;
  bool ready_ = false, interrupted_ = false, over_ = false, ended_ = false, hung_ = false,
       told_ = false;
  std::optional<MpiOrder> order_;
  std::optional<MpiAnswer> answer_;
  std::optional<RankFailure> failure_;
  std::shared_ptr<const LastWords> others_;  // null before hello()
  std::chrono::milliseconds grace_;
};

void speak_mpi(const std::shared_ptr<Desk>& desk, const MpiJobOptions& options) {
  try {
    MpiRank rank(options, [desk](const RankFailure& failure) { desk->hang(failure); });
    desk->hello(rank.last_words());
    while (const std::optional<MpiOrder> order = desk->next_order())
      desk->deliver(rank.carry_out(*order));
    rank.end();
  } catch (const Error& e) {
    desk->fail({.kind = e.kind(), .rank = 0, .what = e.what()});
  } catch (const std::exception& e) {
    desk->fail({.kind = ErrorKind::broken, .rank = 0, .what = e.what()});
  }
  desk->end();
}

class JoinedJob final : public MpiLaunch {
 public:
  explicit JoinedJob(const MpiJobOptions& options)
      : desk_(std::make_shared<Desk>(options.timeout)) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the other thread's business
    thread_ = std::thread(speak_mpi, desk_, options);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    try {
      desk_->await_hello();
    } catch (...) {
      part();
      throw;
    }
  }

  ~JoinedJob() override {
    part();
    if (const std::string what = desk_->untold(); !what.empty()) say("collmark: " + what + "\n");
  }

  void end() override {
    part();
    desk_->throw_failure_of_all();
  }

  [[nodiscard]] MpiAnswer carry_out(const MpiOrder& order) override {
    return desk_->carry_out(order);
  }
  void interrupt() noexcept override { desk_->interrupt(); }

 private:
  void part() {
    if (!thread_.joinable()) return;
    if (desk_->close())
      thread_.join();
    else
      thread_.detach();
  }

  std::shared_ptr<Desk> desk_;
  std::thread thread_;
};

/// Rank 0 will find out by itself, write what there is and end the job, unless it is at fault.
[[noreturn]] void say_and_linger(const RankFailure& failure, std::chrono::milliseconds timeout) {
  constexpr std::chrono::seconds kAtLeast{10};
  fmt::print(stderr, "collmark: {}\n", failure.what);
  std::this_thread::sleep_for(timeout + kAtLeast);
  std::_Exit(exit_code(failure.kind));
}

}  // namespace

std::unique_ptr<MpiLaunch> join_mpi_job(const MpiJobOptions& options) {
  return std::make_unique<JoinedJob>(options);
}

void follow_mpi_job(const MpiJobOptions& options) {
  MpiRank rank(options,
               [&](const RankFailure& failure) { say_and_linger(failure, options.timeout); });
  rank.follow();
}

}  // namespace collmark
