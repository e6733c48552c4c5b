#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <csignal>
#include <memory>

#include "bench/command.hpp"
#include "bench/config_file.hpp"
#include "bench/interrupt.hpp"
#include "bench/launcher.hpp"
#include "bench/mpi_backend.hpp"
#include "bench/mpi_support.hpp"
#include "bench/mpirun.hpp"
#include "bench/output.hpp"
#include "bench/sweep_flags.hpp"
#include "bench/sweep_session.hpp"
#include "bench/table.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

/// Of a launched job whose processes are the ranks of a backend, one process plans, prints and writes.
bool joins(const SweepConfig& config) {
  if (!joins_mpi_job()) return false;
  const bool several = launcher()->ranks > 1;
  return std::any_of(config.backends.begin(), config.backends.end(), [&](const std::string& name) {
    return name == "mpi" || (several && (name == "cuda" || name == "nccl"));
  });
}

Backends backends_of(const SweepConfig& config, const SweepFlags& flags) {
  BackendOptions options = flags.backend_options();
  options.registers = std::any_of(
      config.algorithms.begin(), config.algorithms.end(),
      [](const std::string& name) { return name.find("/registered") != std::string::npos; });
  if (joins(config)) options.job = join_mpi_job({.timeout = options.timeout});
  Backends all;
  for (const std::string& name : config.backends) all.push_back(make_backend(name, options));
  return all;
}

std::vector<std::string> devices_of(const Backends& backends) {
  std::vector<std::string> all;
  for (const auto& backend : backends)
    for (std::string& line : backend->devices()) all.push_back(std::move(line));
  return all;
}

void dry_run(const std::vector<PlannedCase>& plan, const Backends& backends) {
  Seconds longest{};
  int runnable = 0;
  for (const PlannedCase& planned : plan) {
    const bool here = backends[planned.backend]->availability().here;
    if (!here) continue;
    ++runnable;
    longest += longest_time(planned);
  }
  put(fmt::format(
      "{} cases, {} of them on a backend that is here; at most about {}, nothing was run\n",
      plan.size(), runnable, readable_wait(longest)));
  for (const auto& backend : backends)
    if (const Availability a = backend->availability(); !a.here)
      put(fmt::format("{}: skipped, {}\n", backend->name(), a.reason));
}

/// Of those whose ranks we place on this host's cores ourselves.
int most_ranks(const std::vector<PlannedCase>& plan, const SweepConfig& config) {
  const bool elsewhere = joins_mpi_job() || ranks_may_be_elsewhere(config.hostfile);
  int most = 0;
  for (const PlannedCase& planned : plan)
    if (const std::string& backend = config.backends[planned.backend];
        backend != "cuda" && backend != "nccl" && (!elsewhere || backend != "mpi"))
      most = std::max(most, planned.c.ranks);
  return most;
}

/// A joined job is one launch, however many are asked for: nobody can start its processes anew.
std::string launches_warning(const SweepConfig& config) {
  if (!joins(config) || config.launches == 1) return "";
  return fmt::format(
      "collmark: the {} launches share the processes of this job; start collmark without a "
      "launcher "
      "for fresh ones\n",
      config.launches);
}

void end_all(const Backends& backends) {
  for (const auto& backend : backends) backend->end();
}

int measure_and_write(const SweepFlags& flags, SweepConfig config, const Backends& backends) {
  if (!flags.samples.empty() &&
      (flags.samples == flags.csv || flags.samples == run_record_path(flags.csv)))
    throw Error(ErrorKind::usage,
                fmt::format("--samples: '{}' is written for --csv already", flags.samples));
  const Timer timer = measure_timer();
  config.measure.timer_call = timer.call;
  const std::vector<PlannedCase> plan = plan_sweep(config);
  if (flags.dry_run) return dry_run(plan, backends), end_all(backends), 0;

  // From here on a full disk or a size limit is an error code of write(2), and Ctrl-C an event.
  std::signal(SIGXFSZ, SIG_IGN);
  const InterruptListener listener([&] {
    for (const auto& backend : backends) backend->interrupt();
  });
  SweepSession session(flags, config,
                       {.run_id = new_run_id(),
                        .argv = command_line(),
                        .host = this_host(),
                        .timer = timer,
                        .noise = check_noise(),
                        .configuration = to_json(config),
                        .devices = devices_of(backends),
                        .started_utc = utc_now()});
  const std::vector<PlannedCase> rest = session.unfinished(plan);
  say(warnings(session.run(), most_ranks(rest, config)));
  say(launches_warning(config));

  session.begin(rest);
  Sweep sweep({session.run().run_id, session.run().host.name}, backends, session);
  measure_resumably(session.run(), flags.csv,
                    [&] { sweep.run(rest, [&] { return listener.interrupted(); }); });
  session.end(devices_of(backends));
  say(failed_before(session.found(), flags.csv));
  end_all(backends);  // all rows are there, whatever comes of it
  return exit_status(session.found() + sweep.tally(), flags.missing());
}

int sweep(const SweepFlags& flags, const SweepConfig& config) {
  const bool joined = joins(config);
  if (!joined) refuse_launcher();
  if (joined && launcher()->rank > 0)
    return follow_mpi_job({.timeout = flags.backend_options().timeout}), 0;
  const Backends backends = backends_of(config, flags);
  const auto measure = [&] { return measure_and_write(flags, config, backends); };
  return joined ? as_rank_0(measure) : measure();
}

}  // namespace

void add_sweep(CLI::App& app, int& status) {
  auto* const command = app.add_subcommand(
      "sweep", "measure collectives over sizes, ranks and algorithms; every result is checked");
  const auto flags = std::make_shared<SweepFlags>();
  declare(*command, *flags);
  command->footer(
      "Example:  collmark sweep --algorithm ring,parameter_server --ranks 2:4 --sizes 4K:16M:x8 "
      "--csv results.csv");
  command->callback([&status, flags, command] {
    const ConfigFile file(*command, flags->config);
    status = sweep(*flags, file.locate([&] { return config_from(*flags); }));
  });
}

}  // namespace collmark
