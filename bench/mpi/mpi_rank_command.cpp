/// `collmark mpi-rank`: the other end of MpirunLaunch.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "bench/launcher.hpp"
#include "bench/mpi/mpi_rank.hpp"
#include "bench/mpi_support.hpp"
#include "bench/order_json.hpp"

namespace collmark {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds kLinger{10};

/// A line in one piece: other ranks write to the same place.
void write_line(const Json& message) {
  const std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t some = write(STDOUT_FILENO, line.data() + done, line.size() - done);
    if (some <= 0) std::_Exit(exit_code(ErrorKind::lost));  // nobody listens any more
    done += static_cast<std::size_t>(some);
  }
}

/// mpirun ends all ranks as soon as one has ended. So this one waits until the others had their say, too, and
/// whoever hears them ends the job.
[[noreturn]] void report(const RankFailure& failure, std::chrono::milliseconds timeout) {
  write_line(
      {{"failure",
        {{"kind", exit_code(failure.kind)}, {"rank", failure.rank}, {"what", failure.what}}}});
  std::this_thread::sleep_for(kLinger + timeout);
  std::_Exit(exit_code(failure.kind));
}

Json hello(const MpiRank& rank) {
  Json processes = Json::array();
  for (const RankProcess& p : rank.processes())
    processes.push_back({{"pid", p.pid}, {"host", p.host}});
  return {{"hello", {{"processes", processes}}}};
}

void follow_orders(MpiRank& rank) {
  write_line(hello(rank));
  for (std::string line; std::getline(std::cin, line);)
    write_line({{"result", to_json(rank.carry_out(order_from_json(Json::parse(line))))}});
  rank.end();
}

/// As the launcher says, which is there before MPI is and after it failed.
int own_rank() {
  const std::optional<Launcher> job = launcher();
  return job ? job->rank : 0;
}

void be_a_rank(std::chrono::milliseconds timeout) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // mpirun or its agent on this host is gone: so is the job
  const auto on_failure = [timeout](const RankFailure& failure) { report(failure, timeout); };
  try {
    MpiRank rank({.timeout = timeout}, on_failure);
    if (rank.rank() == 0)
      follow_orders(rank);
    else
      rank.follow();
  } catch (const Error& e) {
    on_failure({.kind = e.kind(), .rank = own_rank(), .what = e.what()});
  } catch (const std::exception& e) {
    on_failure({.kind = ErrorKind::broken, .rank = own_rank(), .what = e.what()});
  }
}

}  // namespace

void add_mpi_rank(CLI::App& app, int& status) {
  auto* const command = app.add_subcommand("mpi-rank", "one rank of a sweep over MPI");
  command->group("");  // not in the help
  const auto timeout = std::make_shared<int>(30'000);
  command->add_option("--timeout", *timeout, "milliseconds of any single wait");
  command->callback([timeout, &status] {
    be_a_rank(std::chrono::milliseconds(*timeout));
    status = 0;
  });
}

}  // namespace collmark
