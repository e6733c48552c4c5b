/// collmark_mpi_test: the mpi executor against the reference, by real processes.
///
///   mpirun -n 4 collmark_mpi_test            the whole catalogue, on communicators of 1..4 of the ranks
///   mpirun -n 4 collmark_mpi_test --windows  the same with all buffers in a shared-memory window
///
/// Every rank checks its own output; what is wrong goes to stderr, and any fault of any rank to the exit code.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "collectives/catalogue.hpp"
#include "collectives/mpi/mpi_collective.hpp"
#include "collectives/mpi/test_report.hpp"
#include "collectives/mpi/window_collective.hpp"
#include "collectives/test_data.hpp"

namespace collmark {
namespace {

struct Setting {
  Schedule schedule;
  std::string name;
  Payload payload;
  SegmentOptions segments = {};
  PlanOptions plan = {};
};

/// The executors, each with the buffers that it works on.
class ByMessages {
 public:
  static constexpr const char* kName = "messages";
  ByMessages(const Communicator& comm, const Setting& s, Placement placement)
      : input_(bytes(s.payload)),
        output_(placement == Placement::in_place ? 0 : bytes(s.payload)),
        buffers_{input_.data(), placement == Placement::in_place ? input_.data() : output_.data()},
        collective_(comm, s.schedule, {s.payload, buffers_}, {.segments = s.segments}) {}
  [[nodiscard]] RankBuffers buffers() const { return buffers_; }
  void run() { collective_.run(); }
  [[nodiscard]] Moved moved() const { return collective_.moved(); }

 private:
  ByteBuffer input_, output_;
  RankBuffers buffers_;
  MpiCollective collective_;
};

class InWindow {
 public:
  static constexpr const char* kName = "window";
  InWindow(const Communicator& comm, const Setting& s, Placement placement)
      : collective_(comm, s.schedule, {s.payload, placement}, {.plan = s.plan}) {}
  [[nodiscard]] RankBuffers buffers() const { return collective_.buffers(); }
  void run() { collective_.run(); }
  [[nodiscard]] Moved moved() const { return collective_.moved(); }

 private:
  WindowCollective collective_;
};

/// One rank's part of several operations in a row, in both placements, and what was counted.
template <class Executor>
void check(const Communicator& comm, const Setting& setting, Report& report) {
  const auto me = static_cast<std::size_t>(comm.rank());
  const std::size_t size = bytes(setting.payload);
  const Expectation expected = expect(setting.schedule, setting.payload, 2);
  const Moved listed = listed_moves(setting.schedule, setting.payload)[me];
  for (const Placement placement : {Placement::in_place, Placement::out_of_place}) {
    const bool in_place = placement == Placement::in_place;
    const std::string what =
        fmt::format("{} by {} N={} {} {} {} elements {} place", setting.name, Executor::kName,
                    comm.ranks(), name(setting.payload.dtype), name(setting.payload.op),
                    setting.payload.count.value, in_place ? "in" : "out of");
    Executor executor(comm, setting, placement);
    const RankBuffers where = executor.buffers();
    std::fill_n(where.output, size, std::byte{0xA5});
    for (std::size_t i = 0; i < expected.inputs.size(); ++i) {
      const ByteBuffer& fresh = expected.inputs[i][me];
      std::copy(fresh.begin(), fresh.end(), where.input);
      executor.run();
      const ByteBuffer got(where.output, where.output + size);
      report.expect(owed_equal(setting.schedule, setting.payload, comm.rank(),
                               {got, expected.outputs[i][me]}),
                    what + ": differs from the reference");
      report.expect(in_place || std::equal(fresh.begin(), fresh.end(), where.input),
                    what + ": lost its input");
    }
    const Moved moved = executor.moved();
    report.expect(moved.sent == listed.sent && moved.received == listed.received &&
                      moved.messages == listed.messages,
                  fmt::format("{}: moved {} and {} bytes in {} messages, not {}, {}, {}", what,
                              moved.sent.value, moved.received.value, moved.messages,
                              listed.sent.value, listed.received.value, listed.messages));
  }
}

template <class Visit>
void for_each_schedule(int ranks, const Visit& visit) {
  for (const Algorithm& a : catalogue())
    if (is_supported(a, ranks))
      visit(build(a.collective, a.name, ranks), fmt::format("{} {}", name(a.collective), a.name));
}

template <class Executor>
void every_algorithm(const Communicator& comm, Report& report) {
  const int n = comm.ranks();
  for_each_schedule(n, [&](const Schedule& s, const std::string& name) {
    for (const std::int64_t count : {0, 1, n - 1, n, n + 1, 1003})
      check<Executor>(comm, {s, name, {.count = {count}}}, report);
  });
}

template <class Executor>
void every_dtype_and_op(const Communicator& comm, Report& report) {
  for_each_schedule(comm.ranks(), [&](const Schedule& s, const std::string& name) {
    for (const Dtype dtype : kDtypes)
      for (const ReduceOp op : kReduceOps)
        if (reduces(s.collective) || op == ReduceOp::sum)
          check<Executor>(comm, {s, name, {.count = {67}, .dtype = dtype, .op = op}}, report);
  });
}

/// Segments longer than what MPI sends unasked, so that both of its protocols are met; many tiles, stored past
/// the caches.
template <class Executor>
void large_counts_in_pieces(const Communicator& comm, Report& report) {
  const SegmentOptions segments{.reduced = {8 * 1024}, .copied = {24 * 1024}, .window = 3};
  const PlanOptions tiles{.tile = {4 * 1024}, .streaming_above = {1}};
  for_each_schedule(comm.ranks(), [&](const Schedule& s, const std::string& name) {
    check<Executor>(comm, {s, name, {.count = {50'021}}, segments, tiles}, report);
  });
}

void lengths_that_differ_are_an_error(const Communicator& comm, Report& report) {
  const Schedule s = build(Collective::broadcast, "star", comm.ranks());
  ByteBuffer data(comm.rank() == 0 ? 400 : 200);
  const Payload payload{.count = {static_cast<std::int64_t>(data.size() / 4)}};
  MpiCollective collective(comm, s, {payload, {data.data(), data.data()}});
  if (comm.rank() == 0)
    collective.run();
  else
    report.expect_error(ErrorKind::lost, "truncated", [&] { collective.run(); });
}

void a_rank_that_never_comes_is_named(const Communicator& comm, Report& report) {
  const Schedule s = build(Collective::all_reduce, "ring", comm.ranks());
  ByteBuffer data(64);
  MpiCollective collective(comm, s, {{.count = {16}}, {data.data(), data.data()}},
                           {.timeout = std::chrono::milliseconds(200)});
  const int last = comm.ranks() - 1;
  const std::string words =
      comm.rank() == 0 ? fmt::format("rank 0 waits for rank {} to send its message in step 0", last)
                       : fmt::format("rank {} waits for rank {}", comm.rank(), comm.rank() - 1);
  if (comm.rank() < last)
    report.expect_error(ErrorKind::timed_out, words, [&] { collective.run(); });
}

void a_rank_that_never_comes_to_a_window_is_named(const Communicator& comm, Report& report) {
  const Schedule s = build(Collective::all_reduce, "ring", comm.ranks());
  WindowCollective collective(comm, s, {{.count = {16}}, Placement::in_place},
                              {.timeout = std::chrono::milliseconds(200)});
  const int last = comm.ranks() - 1;
  const std::string words =
      fmt::format("rank 0 hung in step 0: waited 0.2 s for rank {} to enter the operation", last);
  if (comm.rank() < last)  // whomever they wait for themselves, all name the one at fault
    report.expect_error(ErrorKind::timed_out, words, [&] { collective.run(); });
}

void schedules_for_others_are_refused(const Communicator& comm, Report& report) {
  ByteBuffer data(64);
  report.expect_error(ErrorKind::usage, fmt::format("communicator of {}", comm.ranks()), [&] {
    const Schedule s = build(Collective::all_reduce, "ring", comm.ranks() + 1);
    MpiCollective(comm, s, {{.count = {16}}, {data.data(), data.data()}}).run();
  });
}

template <class Executor>
void run_catalogue(int ranks, Report& report) {
  for (int n = 1; n <= ranks; ++n) run(n, every_algorithm<Executor>, report);
  run(ranks, every_dtype_and_op<Executor>, report);
  run(ranks, large_counts_in_pieces<Executor>, report);
}

void run_errors(int ranks, Report& report) {
  run(ranks, schedules_for_others_are_refused, report);
  if (ranks > 1) run(ranks, lengths_that_differ_are_an_error, report);
  if (ranks > 1) run(ranks, a_rank_that_never_comes_is_named, report);
  if (ranks > 1) run(ranks, a_rank_that_never_comes_to_a_window_is_named, report);
}

}  // namespace
}  // namespace collmark

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (argc > 2 || (!mode.empty() && mode != "--windows")) {
    fmt::print(stderr, "usage: mpirun -n RANKS collmark_mpi_test [--windows]\n");
    return 2;
  }
  return collmark::test_program([&](int rank, int ranks) {
    collmark::Report report(rank);
    if (mode.empty()) {
      collmark::run_catalogue<collmark::ByMessages>(ranks, report);
      collmark::run_errors(ranks, report);
    } else {
      collmark::run_catalogue<collmark::InWindow>(ranks, report);
    }
    return report.verdict(1000);
  });
}
