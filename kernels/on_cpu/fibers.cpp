#include "kernels/on_cpu/fibers.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "kernels/on_cpu/sanitizers.hpp"
#include "kernels/on_cpu/seen_words.hpp"
#include "kernels/on_cpu/stack_switch.hpp"
#include "kernels/wait_text.hpp"

namespace collmark::grid {

/// With a page below it that nobody may touch. Mapped, not from the heap: a lane that never ended leaves words in
/// it that ThreadSanitizer would take for ours.
class Stack {
 public:
  static constexpr std::size_t kSize = 64 << 10;  // [bytes]

  Stack()
      : memory_(mmap(nullptr, kSize + kGuard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(memory_, kGuard, PROT_NONE);
  }
  ~Stack() { munmap(memory_, kSize + kGuard); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  [[nodiscard]] char* begin() const { return static_cast<char*>(memory_) + kGuard; }

 private:
  static constexpr std::size_t kGuard = 4096;
  void* memory_;
};

struct Fiber {
  const Lane* lane = nullptr;
  std::unique_ptr<Stack> stack = std::make_unique<Stack>();
  std::unique_ptr<StackSwitch> place;
  void* tsan = nullptr;
  void* asan = nullptr;         // its fake stack while it is not running
  const char* waits = nullptr;  // for what, at its last look ...
  std::optional<FlagWait> wait =
      {};  // ... or for what flag, until it comes: a look may itself be a switch
  bool parked = false, ended = false;
  Fiber* next_parked = nullptr;
};

namespace {

constexpr int kSlowFor = 4096;    // switches, then other blocks are slow
constexpr int kTurnsOfSlow = 64;  // one in so many

/// splitmix64 (Steele, Lea, Flood 2014).
struct Random {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  bool per_1024(int chance) { return static_cast<int>(next() % 1024) < chance; }
};

class Scheduler;
thread_local Scheduler* running = nullptr;

class Scheduler {
 public:
  Scheduler(const Launch& launch, const std::vector<std::unique_ptr<Lane>>& lanes,
            const std::function<void()>& kernel, void (*enter)(const Lane*))
      : launch_(launch), lanes_(lanes), kernel_(kernel), enter_(enter), random_{launch.seed} {
    runnable_.reserve(lanes.size());
    left_.assign(static_cast<std::size_t>(launch.blocks), launch.lanes);
    main_tsan_ = tsan_this_fiber();
  }

  FiberRun run() {
    running = this;
    const int resident = launch_.resident > 0 ? launch_.resident : launch_.blocks;
    while (next_block_ < launch_.blocks && next_block_ < resident) admit();
    while (alive_ > 0) {
      if (runnable_.empty() || idle_ > launch_.patience * (runnable_.size() + 16)) {
        result_.deadlock = who_waits();
        break;
      }
      if (idle_ > 0 && launch_.gives_way_after > 0 &&
          idle_ % (launch_.gives_way_after * runnable_.size()) == 0)
        sched_yield();
      turn();
    }
    for (const auto& fiber : fibers_)
      if (!fiber->ended) abandon(*fiber);
    running = nullptr;
    return std::move(result_);
  }

  // Called on a fiber.

  void yields(const char* what) {
    now_->waits = what;
    to_main();
    now_->waits = nullptr;
  }

  void yields(const FlagWait& wait) {
    now_->wait = wait;
    to_main();
  }

  [[nodiscard]] Clock clock() const { return launch_.clock; }
  [[nodiscard]] std::uint64_t turns() const { return result_.report.switches; }

  void at_flag(const void* word, Scope scope) {
    ++result_.report.accesses;
    if (launch_.blocks_per_rank > 0)
      result_.narrow_scope |=
          words_.note(word, now_->lane->index.block / launch_.blocks_per_rank, scope);
    if (random_.per_1024(launch_.switch_per_1024)) to_main();
  }

  void progress() {
    idle_ = 0;
    now_->wait.reset();
  }

  void parks(Meeting& m) {
    now_->next_parked = m.parked;
    m.parked = now_;
    now_->parked = true;
    now_->waits = "the others at a barrier";
    to_main();
    now_->waits = nullptr;
  }

  void wakes(Meeting& m) {
    progress();
    for (Fiber* f = std::exchange(m.parked, nullptr); f != nullptr; f = f->next_parked) {
      f->parked = false;
      runnable_.push_back(f);
    }
    to_main();
  }

 private:
  /// The lanes of the next block that fits.
  void admit() {
    const auto first =
        static_cast<std::size_t>(next_block_) * static_cast<std::size_t>(launch_.lanes);
    for (std::size_t i = first; i < first + static_cast<std::size_t>(launch_.lanes); ++i) {
      fibers_.push_back(std::make_unique<Fiber>());
      fibers_.back()->lane = lanes_[i].get();
      make_ready(*fibers_.back());
      runnable_.push_back(fibers_.back().get());
    }
    alive_ += launch_.lanes;
    ++next_block_;
  }

  static void make_ready(Fiber& fiber) {
    fiber.place =
        std::make_unique<StackSwitch>(fiber.stack->begin(), Stack::kSize, &Scheduler::body);
    fiber.tsan = tsan_new_fiber();
  }

  static void body() {
    asan_arrived(nullptr, &running->main_stack_, &running->main_size_);
    running->kernel_();
    running->now_->ended = true;
    running->progress();
    running->to_main();
  }

  void to_main() {
    Fiber& me = *now_;
    // The end of a lane is seen by whoever launched it; a mere switch orders nothing.
    tsan_switch(main_tsan_, me.ended ? Order::yes : Order::no);
    asan_leaving(me.ended ? nullptr : &me.asan, main_stack_, main_size_);
    me.place->to(main_);
    asan_arrived(me.asan, &main_stack_, &main_size_);
  }

  void turn() {
    if (result_.report.switches++ % kSlowFor == 0)
      for (const auto& lane : lanes_)
        if (lane->index.lane == 0) lane->block->slow = random_.per_1024(launch_.slow_per_1024);
    const std::size_t at = random_.next() % runnable_.size();
    Fiber& fiber = *runnable_[at];
    ++idle_;
    if (fiber.lane->block->slow && random_.next() % kTurnsOfSlow != 0) return;
    now_ = &fiber;
    enter_(fiber.lane);
    tsan_switch(fiber.tsan, Order::no);
    void* fake = nullptr;
    asan_leaving(&fake, fiber.stack->begin(), Stack::kSize);
    main_.to(*fiber.place);
    asan_arrived(fake, nullptr, nullptr);
    if (fiber.parked || fiber.ended) drop(&fiber);
    if (fiber.ended) end(fiber);
  }

  void drop(const Fiber* fiber) {
    const auto found = std::find(runnable_.begin(), runnable_.end(), fiber);
    *found = runnable_.back();
    runnable_.pop_back();
  }

  void end(Fiber& fiber) {
    tsan_end_fiber(fiber.tsan);
    fiber.stack.reset();
    --alive_;
    if (--left_[static_cast<std::size_t>(fiber.lane->index.block)] == 0 &&
        next_block_ < launch_.blocks)
      admit();
  }

  /// A lane that never ends: what it did comes before whatever its launcher does next, as with one that ended.
  void abandon(const Fiber& fiber) {
    tsan_switch(fiber.tsan, Order::no);
    tsan_switch(main_tsan_, Order::yes);
    tsan_end_fiber(fiber.tsan);
  }

  /// A line for each block and reason, the first few.
  [[nodiscard]] std::string who_waits() const {
    constexpr std::size_t kMost = 12;
    std::string text = "deadlock";
    if (next_block_ < launch_.blocks)
      text += "; " + std::to_string(launch_.blocks - next_block_) + " blocks never started";
    std::vector<std::string> told;
    for (const auto& f : fibers_) {
      if (f->ended || (f->waits == nullptr && !f->wait)) continue;
      std::string line = "block " + std::to_string(f->lane->index.block) + " waits for " +
                         (f->waits != nullptr ? f->waits : wait_text(*f->wait));
      if (std::find(told.begin(), told.end(), line) == told.end()) told.push_back(std::move(line));
    }
    for (std::size_t i = 0; i < std::min(kMost, told.size()); ++i) text += "; " + told[i];
    if (told.size() > kMost) text += "; and " + std::to_string(told.size() - kMost) + " more";
    return text;
  }

  const Launch& launch_;
  const std::vector<std::unique_ptr<Lane>>& lanes_;
  const std::function<void()>& kernel_;
  void (*enter_)(const Lane*);
  Random random_;
  FiberRun result_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> runnable_;
  std::vector<int> left_;  // [block]: lanes that have not ended
  SeenWords words_;
  Fiber* now_ = nullptr;
  int next_block_ = 0, alive_ = 0;
  std::uint64_t idle_ = 0;  // turns since something happened
  StackSwitch main_;
  void* main_tsan_ = nullptr;
  const void* main_stack_ = nullptr;
  std::size_t main_size_ = 0;
};

}  // namespace

FiberRun run_fibers(const Launch& launch, const std::vector<std::unique_ptr<Lane>>& lanes,
                    const std::function<void()>& kernel, void (*enter)(const Lane*)) {
  return Scheduler(launch, lanes, kernel, enter).run();
}

bool in_fiber() { return running != nullptr; }
void fiber_yields(const char* what) { running->yields(what); }
void fiber_yields(const FlagWait& wait) { running->yields(wait); }
Clock fiber_clock() { return running->clock(); }
std::int64_t fiber_turns() { return static_cast<std::int64_t>(running->turns()); }
void fiber_at_flag(const void* word, Scope scope) {
  if (running != nullptr) running->at_flag(word, scope);
}
void fiber_progress() {
  if (running != nullptr) running->progress();
}
void fiber_parks(Meeting& meeting) { running->parks(meeting); }
void fiber_wakes(Meeting& meeting) { running->wakes(meeting); }

}  // namespace collmark::grid
