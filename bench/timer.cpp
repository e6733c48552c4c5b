#include "bench/timer.hpp"

#include <algorithm>
#include <vector>

#include "bench/statistics.hpp"
#include "bench/team.hpp"

namespace collmark {
namespace {

constexpr int kBlocks = 51;
constexpr int kCalls = 500;  // per block

}  // namespace

Timer measure_timer() {
  Clock::duration tick = std::chrono::seconds(1);
  std::vector<double> calls;  // [s], the median of which no interrupt can spoil
  for (int block = 0; block < kBlocks; ++block) {
    const Clock::time_point begin = Clock::now();
    Clock::time_point last = begin;
    for (int i = 0; i < kCalls; ++i) {
      const Clock::time_point now = Clock::now();
      if (now != last) tick = std::min(tick, now - last);
      last = now;
    }
    calls.push_back(Seconds(last - begin).count() / kCalls);
  }
  return {Seconds(tick), Seconds(median(std::move(calls)))};
}

}  // namespace collmark
