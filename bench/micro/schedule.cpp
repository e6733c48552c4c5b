/// What it costs to have an algorithm as data: building, walking and proving
/// a schedule.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "bench/micro/register.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/verify.hpp"

namespace collmark::micro {
namespace {

/// Builds the schedule and walks all its steps, as cost, verify and the executors do.
void walk(benchmark::State& state, const std::string& algorithm, int ranks) {
  std::int64_t transfers = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Schedule s = build(Collective::all_reduce, algorithm, ranks);
    for (int t = 0; t < s.steps; ++t)
      s.step(t, [&](const Transfer& x) {
        int sender = x.src;
        benchmark::DoNotOptimize(sender);
        ++transfers;
      });
  }
  state.SetItemsProcessed(transfers);
}

/// The symbolic proof that the schedule is right.
void prove(benchmark::State& state, const std::string& algorithm, int ranks) {
  const Schedule s = build(Collective::all_reduce, algorithm, ranks);
  for ([[maybe_unused]] auto _ : state) {
    bool ok = verify(s).ok();
    benchmark::DoNotOptimize(ok);
  }
}

}  // namespace

void register_schedule() {
  for (const Algorithm& a : catalogue(Collective::all_reduce))
    for (const int ranks : {8, 64}) {  // powers of two: every algorithm has them
      const std::string algorithm(a.name);
      benchmark::RegisterBenchmark(fmt::format("walk/{}/{}", algorithm, ranks).c_str(),
                                   [=](benchmark::State& s) { walk(s, algorithm, ranks); });
      benchmark::RegisterBenchmark(fmt::format("verify/{}/{}", algorithm, ranks).c_str(),
                                   [=](benchmark::State& s) { prove(s, algorithm, ranks); });
    }
}

}  // namespace collmark::micro
