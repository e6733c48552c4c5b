/// collmark_mpi_peer: MPI_Allreduce of the installed library under collmark's own measurement, one CSV row per
/// size on rank 0's stdout. scripts/compare_openmpi.py runs it beside `collmark sweep`:
///
///   mpirun -n 2 --bind-to core build/collmark_mpi_peer --sizes 16K,1M,16M
#include <mpi.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <string>

#include "bench/exact_data.hpp"
#include "bench/measure.hpp"
#include "bench/mpi/host_team.hpp"
#include "bench/size_grammar.hpp"
#include "collectives/error.hpp"
#include "collectives/pages.hpp"

namespace collmark {
namespace {

/// f32 sum, in buffers of the same kind as the threads backend's.
class LibraryAllReduce final : public Operation {
 public:
  LibraryAllReduce(const HostTeam& team, Elements count, Placement placement)
      : rank_(team.rank()),
        count_(count),
        in_place_(placement == Placement::in_place),
        data_({.ranks = team.ranks(), .chunks = 1}, {.count = count}),
        input_({count.value * 4}),
        output_({count.value * 4}) {
    std::fill_n(output_.data(), static_cast<std::size_t>(output_.size().value), std::byte{0xA5});
    rewrite_input();
  }

  [[nodiscard]] OperationTraits traits() const override { return {.keeps_input = !in_place_}; }
  void rewrite_input() override {
    data_.write_input(rank_, ++generation_, in_place_ ? output_.data() : input_.data());
  }
  void run() override {
    check_mpi(MPI_Allreduce(in_place_ ? MPI_IN_PLACE : input_.data(), output_.data(),
                            static_cast<int>(count_.value), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD),
              "MPI_Allreduce");
  }
  [[nodiscard]] Check check() const override {
    return data_.check(rank_, generation_, output_.data());
  }
  void evict() override {
    throw Error(ErrorKind::usage, "the peer measures touched and untouched inputs only");
  }
  [[nodiscard]] Moved moved() const override { return {}; }  // a library does not tell

 private:
  int rank_;
  int generation_ = 0;
  Elements count_;
  bool in_place_;
  ExactData data_;
  PageBuffer input_, output_;
};

void print_row(std::int64_t size, const Measurement& m, double flag_ns, int ranks) {
  fmt::print("{},{},{:.3f},{:.3f},{:.3f},{},{},{:.1f}\n", ranks, size, m.time.p50 * 1e6,
             m.time.interval ? m.time.interval->low * 1e6 : m.time.min * 1e6,
             m.time.interval ? m.time.interval->high * 1e6 : m.time.max * 1e6, m.iterations(),
             m.check.wrong, flag_ns);
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  CLI::App app{"The MPI library's all-reduce (f32 sum) under collmark's measurement."};
  std::string sizes = "16K,1M,16M";
  double budget = 0.5;
  app.add_option("--sizes", sizes, "Sizes of each rank's buffer, as in `collmark sweep`");
  app.add_option("--time-budget", budget, "Seconds of timed readings per size")
      ->check(CLI::PositiveNumber);
  bool in_place = false;
  app.add_flag("--in-place", in_place, "MPI_IN_PLACE");
  CLI11_PARSE(app, argc, argv);

  HostTeam team(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (team.rank() == 0)
    fmt::print(
        "ranks,size_bytes,time_us_p50,time_us_ci_low,time_us_ci_high,iterations,wrong,flag_ns\n");
  for (const Bytes bytes : parse_sizes(sizes)) {
    const std::int64_t size = bytes.value;
    LibraryAllReduce operation(team, {size / 4},
                               in_place ? Placement::in_place : Placement::out_of_place);
    const double flag_ns = team.flag_ns();
    const Measurement m = measure(team, operation, {.time_budget = Seconds{budget}});
    if (team.rank() == 0) print_row(size, m, flag_ns, team.ranks());
    if (!m.correct()) return exit_code(ErrorKind::wrong_result);
  }
  return 0;
}

}  // namespace
}  // namespace collmark

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    status = collmark::run(argc, argv);
  } catch (const collmark::Error& e) {
    fmt::print(stderr, "collmark_mpi_peer: {}\n", e.what());
    status = collmark::exit_code(e.kind());
    if (status != 2) MPI_Abort(MPI_COMM_WORLD, status);
  }
  MPI_Finalize();
  return status;
}
