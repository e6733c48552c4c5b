#include "kernels/stub_nccl/clique.hpp"

#include <chrono>
#include <thread>

namespace collmark::stub {
namespace {

constexpr int kBusyLooks = 16;
constexpr std::chrono::microseconds kNap{20};

/// False if `aborted` came first.
template <class Claim>
bool await(const std::atomic<bool>& aborted, Claim claim) {
  for (int look = 0; !claim(); ++look) {
    if (aborted.load(std::memory_order_acquire)) return false;
    if (look < kBusyLooks)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kNap);
  }
  return true;
}

}  // namespace

/// The boards of those of one color have one maker, whoever comes first.
struct Clique::Split {
  enum Making : int { nobody, begun, made };
  std::atomic<int> called;
  int color[kMostRanks], key[kMostRanks];
  std::atomic<int> making[kMostRanks];  // [lowest rank of a color]
  Token token[kMostRanks];              // likewise
};

/// All zeros at first.
struct Clique::Board {
  std::atomic<int> joined;
  std::atomic<std::uint64_t> given[kMostRanks];  // [rank]: in so many rounds
  std::atomic<std::uint64_t> taken[kMostRanks];  // [rank]: needs nothing of the others' in so many
  Token gifts[kMostRanks];                       // [rank]: of its latest round
  Split splits[kMostSplits];
};

Clique::Board& Clique::board() const { return *reinterpret_cast<Board*>(memory_->data()); }

std::unique_ptr<SharedMemory> Clique::new_board() { return SharedMemory::create(sizeof(Board)); }

std::unique_ptr<Clique> Clique::join(const Token& token, Seat seat) {
  auto memory = SharedMemory::open(token);
  if (!memory) return nullptr;
  std::unique_ptr<Clique> clique(new Clique(std::move(memory), seat));
  clique->board().joined.fetch_add(1);
  return clique;
}

bool Clique::complete() const { return board().joined.load() == seat_.ranks; }

void Clique::meet(const Work& work, const std::atomic<bool>& aborted) {
  Board& all = board();
  const std::uint64_t round = ++met_;
  const auto have = [&](const std::atomic<std::uint64_t>(&counts)[kMostRanks]) {
    for (int r = 0; r < seat_.ranks; ++r)
      if (counts[r].load(std::memory_order_acquire) < round) return false;
    return true;
  };
  const auto mine = SharedMemory::create(given_size(work, seat_));
  if (!mine) return;
  give(work, seat_, mine->data());
  all.gifts[seat_.rank] = mine->handle();
  all.given[seat_.rank].store(round, std::memory_order_release);
  if (!await(aborted, [&] { return have(all.given); })) return;

  std::vector<std::unique_ptr<SharedMemory>> theirs;
  std::vector<const std::byte*> given;
  for (int r = 0; r < seat_.ranks; ++r) {
    theirs.push_back(SharedMemory::open(all.gifts[r]));
    if (!theirs.back()) return (void)await(aborted, [] { return false; });  // its process is gone
    given.push_back(theirs.back()->data());
  }
  take(work, seat_, given);
  all.taken[seat_.rank].store(round, std::memory_order_release);
  (void)await(aborted, [&] { return have(all.taken); });  // what it has given is theirs until then
}

void Clique::call_split(const SplitCall& call) {
  Split& split = board().splits[call.number];
  split.color[seat_.rank] = call.color;
  split.key[seat_.rank] = call.key;
  split.called.fetch_add(1);
}

std::optional<SplitPlace> Clique::place_in_split(const SplitCall& call) {
  Split& split = board().splits[call.number];
  if (split.called.load() < seat_.ranks) return std::nullopt;
  if (call.color == nccl::kNoColor) return SplitPlace{.seat = {.rank = 0, .ranks = 0}};
  int lowest = -1;
  Seat seat{.rank = 0, .ranks = 0};
  for (int r = 0; r < seat_.ranks; ++r) {
    if (split.color[r] != call.color) continue;
    if (lowest < 0) lowest = r;
    ++seat.ranks;
    const bool before = split.key[r] < call.key || (split.key[r] == call.key && r < seat_.rank);
    if (before) ++seat.rank;
  }
  int made = Split::nobody;
  if (split.making[lowest].compare_exchange_strong(made, Split::begun)) {
    children_.push_back(new_board());
    if (children_.back()) split.token[lowest] = children_.back()->handle();
    split.making[lowest].store(made = Split::made);
  }
  if (made != Split::made) return std::nullopt;
  return SplitPlace{.token = split.token[lowest], .seat = seat};
}

}  // namespace collmark::stub
