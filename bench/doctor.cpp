/// `collmark doctor`: what can run on this machine, and why the rest cannot.
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "bench/backend.hpp"
#include "bench/command.hpp"
#include "bench/json_text.hpp"
#include "bench/launcher.hpp"
#include "bench/mpi_support.hpp"
#include "bench/mpirun.hpp"
#include "bench/noise.hpp"
#include "bench/on_path.hpp"
#include "bench/output.hpp"
#include "bench/pick.hpp"
#include "bench/table.hpp"
#include "bench/version.hpp"
#include "collectives/reduce.hpp"
#include "kernels/driver.hpp"
#include "kernels/gpu_condition.hpp"
#include "kernels/image.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// A way to run collectives: here, or not and why.
struct Part {
  std::string name;
  bool here;
  std::string why;
};

struct Findings {
  Host host;
  Noise noise;
  std::optional<std::int64_t> shared_memory;  // [bytes] free in /dev/shm; empty: there is none
  std::vector<Part> parts;
  std::string gpu_clocks;  // why those of GPUs are not recorded; empty: they are
};

std::optional<std::int64_t> free_shared_memory() {
  struct statvfs info {};
  if (statvfs("/dev/shm", &info) != 0) return std::nullopt;
  return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

std::string nvidia_driver() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  return line;
}

Part threads(const Host& host) {
  return {"threads", true,
          fmt::format("{} cores: up to {} ranks without sharing a core; more take turns and are "
                      "marked oversubscribed",
                      host.cores.size(), host.cores.size())};
}

/// Does not join a job that this process may be part of: looking must not start anything.
Part mpi() {
  const std::string library = mpi_library();
  std::string started_by = find_mpirun(library).path;
  if (started_by.empty()) started_by = on_path("srun");
  const std::string machine_has = started_by.empty()
                                      ? std::string("no mpirun or srun on PATH")
                                      : fmt::format("the machine has {}", started_by);
  if (library.empty()) return {"mpi", false, "not built into this version; " + machine_has};
  return {"mpi", !started_by.empty(), fmt::format("{}; {}", library, machine_has)};
}

/// Opens the driver and loads the kernels, as a sweep would.
Part cuda() {
  const auto backend = make_backend("cuda", {});
  const std::string kernels =
      kernel_image_version() == 0
          ? std::string("kernels for no GPU: built without nvcc")
          : fmt::format("kernels for {}, built with CUDA {}", kernel_image_targets(),
                        cuda_version(kernel_image_version()));
  if (const Availability a = backend->availability(); !a.here) {
    const std::string driver = nvidia_driver();
    return {"cuda", false,
            fmt::format("{}; {}{}", a.reason, kernels,
                        driver.empty() ? "" : "; the machine has " + driver)};
  }
  return {"cuda", true, fmt::format("{}; {}", fmt::join(backend->devices(), "; "), kernels)};
}

/// Opens the library, whether or not there is a GPU for it.
Part nccl() {
  const auto backend = make_backend("nccl", {});
  const Availability a = backend->availability();
  return {"nccl", a.here, a.here ? backend->devices().front() : a.reason};
}

Findings examine() {
  Host host = this_host();
  std::vector<Part> parts = {threads(host), mpi(), cuda(), nccl()};
  return {.host = std::move(host),
          .noise = check_noise(),
          .shared_memory = free_shared_memory(),
          .parts = std::move(parts),
          .gpu_clocks = GpuMonitor().obstacle()};
}

std::string launcher_text() {
  const std::optional<Launcher> job = launcher();
  if (!job) return "none: this process runs alone";
  return fmt::format(
      "{}, rank {} of {}{}", job->name, job->rank, job->ranks,
      job->ranks > 1 ? "; of what measures, only a sweep of mpi or cuda runs in it" : "");
}

std::string noise_text(const Findings& f) {
  const Noise& n = f.noise;
  const std::string complaint = n.complaint(f.host.cores.size());
  if (!complaint.empty()) return "NOISY, do not compare times taken now: " + complaint;
  return fmt::format("quiet: fixed work varies by {} %, load {}, governor {}, steal {}",
                     rounded(100 * n.spread, 2), rounded(n.load, 2),
                     n.governor.empty() ? "unknown" : n.governor,
                     n.steal ? rounded(100 * *n.steal, 2) + " %" : "unknown");
}

std::string or_unknown(const std::string& text) { return text.empty() ? "unknown" : text; }

void print(const Findings& f) {
  const auto line = [](std::string_view what, const std::string& text) {
    put(fmt::format("  {:<14} {}\n", what, text));
  };
  const auto size = [](std::int64_t bytes) {
    return bytes > 0 ? readable(Bytes{bytes}) : std::string("unknown");
  };
  put("Machine\n");
  line("name", f.host.name);
  line("cpu", or_unknown(f.host.cpu));
  line("cores",
       fmt::format("{} that this process may use ({})", f.host.cores.size(), ranges(f.host.cores)));
  line("caches",
       fmt::format("L2 {}, last level {}", size(f.host.l2_cache), size(f.host.last_level_cache)));
  line("instructions", fmt::format("{} for reductions", name(best_instruction_set())));
  line("memory", fmt::format("{} available", size(f.host.memory_available)));
  line("/dev/shm", f.shared_memory ? readable(Bytes{*f.shared_memory}) + " free" : "missing");
  line("huge pages", f.host.huge_pages);
  line("kernel", or_unknown(f.host.kernel));
  line("GPU clocks",
       f.gpu_clocks.empty() ? "recorded with each case of cuda" : "not recorded: " + f.gpu_clocks);
  line("launcher", launcher_text());
  line("noise", noise_text(f));
  put("\nBackends\n");
  for (const Part& p : f.parts) line(p.name, (p.here ? "yes: " : "no: ") + p.why);
  put("\n" + version_text() + "\n");
}

OrderedJson to_json(const Findings& f) {
  OrderedJson backends = OrderedJson::array();
  for (const Part& p : f.parts)
    backends.push_back({{"name", p.name}, {"available", p.here}, {"reason", p.why}});
  const Host& h = f.host;
  return {{"version", version_text()},
          {"machine",
           {{"name", h.name},
            {"cpu", h.cpu},
            {"cores", h.cores},
            {"l2_cache_bytes", h.l2_cache},
            {"last_level_cache_bytes", h.last_level_cache},
            {"instruction_set", name(best_instruction_set())},
            {"memory_available_bytes", h.memory_available},
            {"shared_memory_free_bytes",
             f.shared_memory ? OrderedJson(*f.shared_memory) : OrderedJson(nullptr)},
            {"huge_pages", h.huge_pages},
            {"kernel", h.kernel},
            {"gpu_clocks_unknown", f.gpu_clocks}}},
          {"noise",
           {{"complaint", f.noise.complaint(h.cores.size())},
            {"spread", f.noise.spread},
            {"load", f.noise.load},
            {"steal", f.noise.steal ? OrderedJson(*f.noise.steal) : OrderedJson(nullptr)},
            {"governor", f.noise.governor}}},
          {"backends", backends}};
}

}  // namespace

void add_doctor(CLI::App& app, int& status) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* const command =
      app.add_subcommand("doctor", "what can run here, and why the rest cannot");
  command->add_flag("--json", *json, "one JSON document on stdout");
  command->footer("Example:  collmark doctor");
  command->callback([json, &status] {
    const Findings findings = examine();
    *json ? put(json_text(to_json(findings))) : print(findings);
    status = 0;
  });
}

}  // namespace collmark
