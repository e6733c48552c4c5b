#include "bench/run_flags.hpp"

#include "bench/in_range.hpp"

namespace collmark {
namespace {

constexpr double kLongest = 86'400.0;  // [s], of a budget or a wait
constexpr int kMost = 1'000'000'000;

}  // namespace

Existing RunFlags::existing() const {
  return resume ? Existing::resume : append ? Existing::append : Existing::refuse;
}

MeasureOptions RunFlags::measure_options() const {
  MeasureOptions options{.warmups = warmups, .time_budget = Seconds(time_budget)};
  if (iterations) options.most_iterations = *iterations;
  return options;
}

BackendOptions RunFlags::backend_options() const {
  return {.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeout * 1000.0))};
}

void declare_run(CLI::App& command, RunFlags& f) {
  command.add_option("--launches", f.launches, "fresh threads and buffers; 10 for a comparison")
      ->check(whole_in_range(1, kMost))
      ->capture_default_str();
  command.add_option("--time-budget", f.time_budget, "seconds of timing per case, at most")
      ->check(in_range(0.001, kLongest))
      ->capture_default_str();
  command.add_option("-n,--iterations", f.iterations, "timed readings per case, at most")
      ->check(whole_in_range(1, kMost));
  command.add_option("-w,--warmups", f.warmups, "exactly so many, 0 too (default: until stable)")
      ->check(whole_in_range(0, kMost));
  command
      .add_option("--timeout", f.timeout,
                  "seconds that a rank waits for another before it is a hang")
      ->check(in_range(0.1, kLongest))
      ->capture_default_str();
  command.add_option("--seed", f.seed, "of the order in which cases run: it is shuffled")
      ->check(whole_in_range(0, kMost))
      ->capture_default_str();
  command.add_option("--config", f.config, "flags from a TOML file; those given here win");
  command.add_option("--csv", f.csv,
                     "a file of rows, as docs/records.md explains; run.json beside it");
  command.add_flag("--resume", f.resume, "finish the run that --csv was begun by")->needs("--csv");
  command.add_flag("--append", f.append, "add this run to --csv")
      ->needs("--csv")
      ->excludes("--resume");
  command.add_flag("--dry-run", f.dry_run, "what would run and how long, nothing else");
}

}  // namespace collmark
