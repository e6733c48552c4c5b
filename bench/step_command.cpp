#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <csignal>
#include <memory>

#include "bench/command.hpp"
#include "bench/config_file.hpp"
#include "bench/interrupt.hpp"
#include "bench/launcher.hpp"
#include "bench/output.hpp"
#include "bench/step_flags.hpp"
#include "bench/step_session.hpp"
#include "bench/table.hpp"

namespace collmark {
namespace {

constexpr Seconds kBesideTiming{1.5};  // warm-up, checks and fresh gradients, roughly

void dry_run(const StepConfig& config, const std::vector<PlannedStep>& plan) {
  Seconds longest{};
  for (const PlannedStep& planned : plan) longest += planned.c.measure.time_budget + kBesideTiming;
  put(plans(step_cases(config)));
  put(fmt::format("{} cases; at most about {}, nothing was run\n", plan.size(),
                  readable_wait(longest)));
}

int step(const StepFlags& flags, const StepConfig& config) {
  const std::vector<PlannedStep> plan = plan_steps(config);
  for (const std::string& sentence : remarks(config)) say("collmark: " + sentence + "\n");
  if (flags.dry_run) return dry_run(config, plan), 0;

  // From here on a full disk or a size limit is an error code of write(2), and Ctrl-C an event.
  std::signal(SIGXFSZ, SIG_IGN);
  const auto backend = make_step_backend(config.backend, flags.backend_options());
  const InterruptListener listener([&] { backend->interrupt(); });
  StepSession session(flags, config,
                      {.run_id = new_run_id(),
                       .argv = command_line(),
                       .host = this_host(),
                       .timer = measure_timer(),
                       .noise = check_noise(),
                       .configuration = to_json(config),
                       .devices = backend->devices(),
                       .started_utc = utc_now()});
  const std::vector<PlannedStep> rest = session.unfinished(plan);
  const bool on_cores = config.backend == "threads";  // ranks may outnumber those
  say(warnings(session.run(),
               on_cores ? *std::max_element(config.ranks.begin(), config.ranks.end()) : 0));

  session.begin(rest);
  StepRun run({session.run().run_id, session.run().host.name}, *backend, session);
  measure_resumably(session.run(), flags.csv,
                    [&] { run.run(rest, [&] { return listener.interrupted(); }); });
  session.end(backend->devices());
  say(failed_before(session.found(), flags.csv));
  return exit_status(session.found() + run.tally(), Missing::refused);
}

}  // namespace

void add_step(CLI::App& app, int& status) {
  auto* const command = app.add_subcommand(
      "step", "measure a training step's gradient buckets over policies, caps and algorithms");
  command->footer(
      "Example:  collmark step --model resnet50 --bucket-policy ddp,horovod --bucket-bytes "
      "1M:256M:x2 --csv step.csv\nPolicies and their rules: docs/bucket-policies.md");
  const auto flags = std::make_shared<StepFlags>();
  declare(*command, *flags);
  command->callback([&status, flags, command] {
    const ConfigFile file(*command, flags->config);
    refuse_launcher();
    status = step(*flags, file.locate([&] { return config_from(*flags); }));
  });
}

}  // namespace collmark
