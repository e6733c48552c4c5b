/// collmark_bound: what this machine's memory allows a fused two_shot all-reduce (stream_bound.hpp), one CSV row
/// per size. scripts/compare_openmpi.py alternates it with `collmark sweep`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "bench/size_grammar.hpp"
#include "bench/stream_bound.hpp"
#include "collectives/error.hpp"

namespace {

int run(int argc, char** argv) {
  CLI::App app{"The bandwidth bound of an all-reduce on shared memory: 2K bytes per rank, f32."};
  std::string sizes = "16M,64M";
  int ranks = 2;
  int repetitions = 21;
  bool in_place = false;
  app.add_option("--sizes", sizes, "Sizes of each rank's buffer, as in `collmark sweep`");
  app.add_option("--ranks", ranks, "Ranks; threads are as many, or as there are cores")
      ->check(CLI::PositiveNumber);
  app.add_option("--repetitions", repetitions, "Readings per size")->check(CLI::PositiveNumber);
  app.add_flag("--in-place", in_place, "Store into the inputs, through the caches");
  CLI11_PARSE(app, argc, argv);

  using collmark::Placement, collmark::Stores;
  const collmark::StreamOptions options{
      .placement = in_place ? Placement::in_place : Placement::out_of_place,
      .stores = in_place ? Stores::cached : Stores::streaming,
      .repetitions = repetitions};
  fmt::print("ranks,size_bytes,time_us_p50,gb_per_s\n");
  for (const collmark::Bytes size : collmark::parse_sizes(sizes)) {
    const collmark::StreamBound bound = collmark::stream_bound(ranks, {size.value / 4}, options);
    fmt::print("{},{},{:.3f},{:.3f}\n", ranks, size.value, bound.time.count() * 1e6,
               bound.bytes_per_second / 1e9);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const collmark::Error& e) {
    fmt::print(stderr, "collmark_bound: {}\n", e.what());
    return collmark::exit_code(e.kind());
  }
}
