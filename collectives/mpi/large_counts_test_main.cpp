/// collmark_mpi_large_test: more elements, and more bytes in one message, than an int counts; every one is checked.
///
///   mpirun -n 2 collmark_mpi_large_test              in place: 2 GiB a rank
///   mpirun -n 2 collmark_mpi_large_test --all        out of place too, and every algorithm: 4 to 6 GiB a rank, minutes
///
/// Exit code 77 if there is not so much memory. Windows are left out, in words, where /dev/shm is too small for them.
#include <sys/statvfs.h>

#include <string>

#include "collectives/catalogue.hpp"
#include "collectives/mpi/mpi_collective.hpp"
#include "collectives/mpi/test_report.hpp"
#include "collectives/mpi/window_collective.hpp"
#include "collectives/pages.hpp"
#include "collectives/test_data.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

constexpr std::int64_t kLarge = (std::int64_t{1} << 31) + 1001;  // [elements] of u8, odd
constexpr std::int64_t kBlock = 4096;  // within one, contents repeat every 256 elements
constexpr int kApart = 77;             // of the same element of two neighbouring ranks

/// Of element i of a rank's input: differs between ranks, neighbours, and blocks far apart.
std::uint8_t value(std::int64_t i, int rank) {
  return static_cast<std::uint8_t>(i * 31 + i / kBlock * 7 + i / (kBlock << 8) * 11 +
                                   rank * kApart);
}

void fill(std::byte* data, int rank) {
  for (std::int64_t i = 0; i < kLarge; ++i) data[i] = std::byte{value(i, rank)};
}

/// Whose elements chunk `c` of `rank` must hold the sum of, and how far away theirs lie.
struct Expected {
  int contributions = 0, sum_of_ranks = 0;
  std::int64_t moved = 0;  // all_to_all's blocks change places

  [[nodiscard]] std::byte of(std::int64_t i) const {
    return static_cast<std::byte>(contributions * value(i + moved, 0) + sum_of_ranks * kApart);
  }
};

Expected expected(const Schedule& s, int rank, int c) {
  const Partition part(s, {kLarge});
  const Owed owed = owed_after(s, rank, c);
  if (owed.what == Owed::What::one)
    return {.contributions = 1,
            .sum_of_ranks = owed.from.rank,
            .moved = part.chunk(owed.from.chunk).offset.value - part.chunk(c).offset.value};
  Expected all;
  for (int r = 0; r < s.ranks && owed.what == Owed::What::every_contributor; ++r) {
    if (!held_before(s, r, c)) continue;
    ++all.contributions;
    all.sum_of_ranks += r;
  }
  return all;
}

/// Elements of `out` that are not what the collective owes this rank.
std::int64_t wrong_elements(const Schedule& s, const std::byte* out, int rank) {
  const Partition part(s, {kLarge});
  std::int64_t wrong = 0;
  for (int c = 0; c < s.chunks; ++c) {
    const Expected e = expected(s, rank, c);
    if (e.contributions == 0) continue;
    const Span span = part.chunk(c);
    for (std::int64_t i = span.offset.value; i < span.offset.value + span.size.value; ++i)
      wrong += out[i] == e.of(i) ? 0 : 1;
  }
  return wrong;
}

struct Trial {
  const Communicator& comm;
  const Schedule& schedule;
  std::string name;
  Placement placement;

  [[nodiscard]] Payload payload() const { return {.count = {kLarge}, .dtype = Dtype::u8}; }
};

template <class Executor>
void check(const Trial& t, Executor& executor, const RankBuffers& where, Report& report) {
  fill(where.input, t.comm.rank());
  executor.run();
  const std::int64_t wrong = wrong_elements(t.schedule, where.output, t.comm.rank());
  report.expect(wrong == 0, fmt::format("{}: {} elements are wrong", t.name, wrong));
}

void by_messages(const Trial& t, Report& report) {
  const bool in_place = t.placement == Placement::in_place;
  PageBuffer input({kLarge}), output(in_place ? Bytes{} : Bytes{kLarge});
  const RankBuffers where{input.data(), in_place ? input.data() : output.data()};
  MpiCollective collective(t.comm, t.schedule, {t.payload(), where});
  check(t, collective, where, report);
}

/// Where MPI libraries put windows; containers often have 64 MiB.
bool windows_fit(const Trial& t) {
  struct statvfs space {};
  if (statvfs("/dev/shm", &space) != 0) return true;  // elsewhere, then
  const std::int64_t buffers = t.placement == Placement::in_place ? 1 : 2;
  const auto free = static_cast<std::int64_t>(space.f_bavail * space.f_frsize);
  return free > buffers * kLarge * t.comm.ranks() + (kLarge >> 3);
}

void in_window(const Trial& t, Report& report) {
  WindowCollective collective(t.comm, t.schedule, {t.payload(), t.placement});
  check(t, collective, collective.buffers(), report);
}

void try_both(const Communicator& comm, const Algorithm& a, Placement placement, Report& report) {
  const Schedule s = build(a.collective, a.name, comm.ranks());
  const std::string what =
      fmt::format("{} {} {}", name(a.collective), a.name,
                  placement == Placement::in_place ? "in place" : "out of place");
  by_messages({comm, s, what + " by messages", placement}, report);
  const Trial windows{comm, s, what + " in a window", placement};
  int fit = windows_fit(windows) ? 1 : 0;
  MPI_Bcast(&fit, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (fit != 0) return in_window(windows, report);
  if (comm.rank() == 0) fmt::print("left out, /dev/shm is too small: {}\n", windows.name);
}

void two_algorithms(const Communicator& comm, Report& report) {
  for (const Algorithm& a : catalogue())
    if ((a.collective == Collective::all_reduce && a.name == "ring") ||
        (a.collective == Collective::broadcast && a.name == "star"))
      try_both(comm, a, Placement::in_place, report);
}

void every_algorithm(const Communicator& comm, Report& report) {
  for (const Algorithm& a : catalogue()) {
    if (a.collective == Collective::barrier || !is_supported(a, comm.ranks())) continue;
    for (const Placement placement : {Placement::in_place, Placement::out_of_place})
      if (a.collective != Collective::all_to_all || placement == Placement::out_of_place)
        try_both(comm, a, placement, report);
  }
}

int tests(bool all, int rank, int ranks) {
  int fits = this_host().memory_available > (all ? 7 : 3) * kLarge / 2 * ranks ? 1 : 0;
  MPI_Bcast(&fits, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (fits == 0) return 77;
  Report report(rank);
  run(ranks, all ? every_algorithm : two_algorithms, report);
  return report.verdict(4);
}

}  // namespace
}  // namespace collmark

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (argc > 2 || (!mode.empty() && mode != "--all")) {
    fmt::print(stderr, "usage: mpirun -n 2 collmark_mpi_large_test [--all]\n");
    return 2;
  }
  return collmark::test_program(
      [&](int rank, int ranks) { return collmark::tests(!mode.empty(), rank, ranks); });
}
