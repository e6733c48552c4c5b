#include "bench/core_link.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "bench/pin.hpp"
#include "bench/statistics.hpp"
#include "bench/team.hpp"
#include "collectives/pages.hpp"
#include "collectives/reduce.hpp"

namespace collmark {
namespace {

constexpr int kBlocks = 101;
constexpr int kRoundTrips = 20;         // per block
constexpr Seconds kLongestFlags{0.02};  // on a busy machine each flag may wait for the scheduler
constexpr std::uint32_t kEnd = 0;       // no trip has this number
constexpr int kCopies = 15;
constexpr int kReductions = 31;
constexpr Bytes kModelReduction{256 << 10};
constexpr int kSpinsBeforeYield = 2'000;  // whoever answers may need our core, after all

struct alignas(128) Flag {  // two cache lines: neighbours are fetched in pairs
  std::atomic<std::uint32_t> value{0};

  void set(std::uint32_t v) { value.store(v, std::memory_order_release); }  // pairs with await
  void await(std::uint32_t v) const {
    for (int spins = 0; value.load(std::memory_order_acquire) != v; ++spins)  // pairs with set
      if (spins > kSpinsBeforeYield) std::this_thread::yield();
  }
  [[nodiscard]] std::uint32_t await_other_than(std::uint32_t old) const {
    std::uint32_t now = old;
    for (int spins = 0; (now = value.load(std::memory_order_acquire)) == old; ++spins)  // with set
      if (spins > kSpinsBeforeYield) std::this_thread::yield();
    return now;
  }
};

}  // namespace

Seconds flag_time(CorePair cores) {
  Flag there, back;
  std::thread answering([&] {
    pin_this_thread(cores.second);
    for (std::uint32_t seen = 0; (seen = there.await_other_than(seen)) != kEnd;) back.set(seen);
  });
  std::vector<double> blocks;  // [s] per round trip
  std::thread asking([&] {
    pin_this_thread(cores.first);
    const Clock::time_point start = Clock::now();
    std::uint32_t trip = 0;
    for (int block = 0; block < kBlocks; ++block) {
      const Clock::time_point begin = Clock::now();
      for (int i = 0; i < kRoundTrips; ++i) {
        there.set(++trip);
        back.await(trip);
      }
      const Clock::time_point end = Clock::now();
      blocks.push_back(Seconds(end - begin).count() / kRoundTrips);
      if (end - start > kLongestFlags) break;
    }
    there.set(kEnd);
  });
  asking.join();
  answering.join();
  return Seconds(median(std::move(blocks)) / 2.0);
}

std::optional<Seconds> flag_time_between_ranks(const std::vector<int>& cores) {
  if (cores.size() < 2) return std::nullopt;
  return flag_time({cores[0], cores[1]});
}

Seconds copy_time(CorePair cores, Bytes size) {
  const PageBuffer from(size), to(size);
  const auto bytes = static_cast<std::size_t>(size.value);
  Flag written, read;
  std::thread writer([&] {
    pin_this_thread(cores.first);
    for (std::uint32_t i = 1; i <= kCopies; ++i) {
      std::memset(from.data(), static_cast<int>(i), bytes);
      written.set(i);
      read.await(i);
    }
  });
  std::vector<double> times;  // [s]
  std::thread reader([&] {
    pin_this_thread(cores.second);
    std::memset(to.data(), 0, bytes);
    for (std::uint32_t i = 1; i <= kCopies; ++i) {
      written.await(i);
      const Clock::time_point begin = Clock::now();
      std::memcpy(to.data(), from.data(), bytes);
      times.push_back(Seconds(Clock::now() - begin).count());
      read.set(i);
    }
  });
  writer.join();
  reader.join();
  return Seconds(median(std::move(times)));
}

double reduction_cost() {
  const PageBuffer a(kModelReduction), b(kModelReduction);
  std::memset(a.data(), 0, static_cast<std::size_t>(kModelReduction.value));
  std::memset(b.data(), 0, static_cast<std::size_t>(kModelReduction.value));
  const std::array<const std::byte*, 2> sources{a.data(), b.data()};
  const std::array<std::byte*, 1> destinations{a.data()};
  const ReducePass sum = reduce_pass(Dtype::f32, ReduceOp::sum);
  std::vector<double> times;  // [s]
  for (int i = 0; i < kReductions; ++i) {
    const Clock::time_point begin = Clock::now();
    sum(sources, destinations, static_cast<std::size_t>(kModelReduction.value) / 4, Stores::cached);
    times.push_back(Seconds(Clock::now() - begin).count());
  }
  return median(std::move(times)) / static_cast<double>(kModelReduction.value);
}

LinkCost measure_link_cost(CorePair cores) {
  return {.alpha = flag_time(cores),
          .beta = copy_time(cores, kModelCopy).count() / static_cast<double>(kModelCopy.value),
          .gamma = reduction_cost()};
}

}  // namespace collmark
