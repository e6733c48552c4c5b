#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/backend.hpp"
#include "bench/choice.hpp"
#include "bench/command.hpp"
#include "bench/csv_file.hpp"
#include "bench/gpu_links.hpp"
#include "bench/interrupt.hpp"
#include "bench/json_text.hpp"
#include "bench/launcher.hpp"
#include "bench/leave_behind.hpp"
#include "bench/link_output.hpp"
#include "bench/mpi_backend.hpp"
#include "bench/mpi_support.hpp"
#include "bench/mpirun.hpp"
#include "bench/output.hpp"
#include "bench/size_grammar.hpp"
#include "bench/test_hooks.hpp"
#include "collectives/catalogue.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

struct LinkFlags {
  std::string backend = "threads";
  std::string size = {};  // 1M, of GPUs 64M
  int ranks = 0;          // of mpi; 0: every rank of the job, or one for each core
  std::string hostfile = {};
  std::string launcher_arguments = {};
  int timeout = 30;  // [s]
  std::string csv = {};
  bool json = false;
  bool allow_missing = false;
};

/// A file appears as a whole at the end, over an older one. A device or a pipe gets its header at
/// once: that it is full shows before anything is measured.
class LinkCsv {
 public:
  explicit LinkCsv(const std::string& path) : path_(path) {
    if (is_special(path))
      stream_.emplace(CsvFile::create(path, kLinkCsvHeader));
    else
      require_writable(path);
  }

  void write(const std::string& rows) {
    if (stream_)
      stream_->append(rows);
    else
      replace_file(path_, std::string(kLinkCsvHeader) + rows);
  }

 private:
  std::string path_;
  std::optional<CsvFile> stream_;
};

/// Two buffers a pair, and every core in one pair.
void require_memory(const LinkFlags& flags, Bytes size, std::size_t ends) {
  const double needed = static_cast<double>(size.value) * static_cast<double>(ends);
  constexpr double kCountable = 1e18;
  const std::string obstacle = memory_obstacle(
      {static_cast<std::int64_t>(std::min(needed, kCountable))}, {this_host().memory_available});
  if (!obstacle.empty())
    throw Error(ErrorKind::incomparable, fmt::format("--size {}: {}", flags.size, obstacle));
}

Bytes size_from(const LinkFlags& flags, const std::string& standard) {
  const Bytes size = parse_size(flags.size.empty() ? standard : flags.size);
  if (size.value == 0) throw Error(ErrorKind::usage, "--size 0: there is nothing to copy");
  return size;
}

LinkTable core_links(const LinkFlags& flags) {
  const Bytes size = size_from(flags, "1M");
  const Host host = this_host();
  if (host.cores.size() < 2)
    throw Error(ErrorKind::incomparable,
                "this process may use one core only: there is no link to measure");
  require_memory(flags, size, host.cores.size());
  LinkTable links{.backend = "threads",
                  .kind = "core",
                  .copied = size,
                  .pairs = measure_links(host.cores, size)};
  for (PairLink& l : links.pairs) l.first_host = l.second_host = host.name;
  return links;
}

/// How many ranks take part, if the user does not say.
int ranks_of_job(const LinkFlags& flags) {
  if (flags.ranks > 0) return flags.ranks;
  if (joins_mpi_job()) return launcher()->ranks;
  if (ranks_may_be_elsewhere(flags.hostfile))
    throw Error(ErrorKind::usage, "--ranks N is needed where other hosts take part");
  return std::max(2, static_cast<int>(this_host().cores.size()));
}

/// What was measured, and how the ranks that measured it failed to end; null if they did not.
struct Measured {
  LinkTable links;
  std::exception_ptr end = nullptr;
};

std::exception_ptr end_of(MpiBackend& mpi) {
  try {
    mpi.end();
    return nullptr;
  } catch (const Error&) {
    return std::current_exception();
  }
}

Measured rank_links(const LinkFlags& flags, MpiBackend& mpi) {
  const Bytes size = size_from(flags, "1M");
  const int ranks = ranks_of_job(flags);
  if (ranks < 2) throw Error(ErrorKind::incomparable, "one rank has no links");
  if (size.value > INT32_MAX)
    throw Error(ErrorKind::usage, "--size: a message of mpi has at most 2147483647 bytes");
  if (!ranks_may_be_elsewhere(flags.hostfile) && !joins_mpi_job())
    require_memory(flags, size, static_cast<std::size_t>(ranks));
  const InterruptListener listener([&] { mpi.interrupt(); });
  mpi.begin_launch(ranks);
  LinkTable links{
      .backend = "mpi", .kind = "rank", .copied = size, .pairs = mpi.measure_links(ranks, size)};
  return {std::move(links), end_of(mpi)};
}

/// A launch is short beside a copy of 64 MiB.
LinkTable gpu_links(const LinkFlags& flags, std::unique_ptr<Gpus> gpus) {
  const Bytes size = size_from(flags, "64M");
  std::atomic<bool> interrupted{false};
  const InterruptListener listener([&] { interrupted.store(true); });
  const std::string host = this_host().name;
  try {
    LinkTable links{.backend = "cuda",
                    .kind = "GPU",
                    .copied = size,
                    .pairs = measure_gpu_links(
                        *gpus, {.size = size,
                                .patience = {.timeout = std::chrono::seconds(flags.timeout),
                                             .interrupted = &interrupted},
                                .spoils = test_hooks_from_environment().corrupt_rank.has_value()})};
    for (PairLink& l : links.pairs) l.first_host = l.second_host = host;
    if (gpus->size() == 1)
      say("collmark: cuda: one GPU: no link between GPUs to measure, only within it\n");
    return links;
  } catch (const Unsupported& e) {
    leave_behind(std::move(gpus));  // what was queued before it was refused may wait for us
    throw Error(ErrorKind::incomparable, e.what());
  } catch (...) {
    leave_behind(std::move(gpus));
    throw;
  }
}

/// Empty, and the reason said, if the backend is absent.
std::optional<Measured> links_of(const std::string& name, const LinkFlags& flags) {
  if (name == "threads") return Measured{core_links(flags)};
  const BackendOptions options{.timeout = std::chrono::seconds(flags.timeout),
                               .hostfile = flags.hostfile,
                               .launcher_arguments = flags.launcher_arguments};
  std::string reason = "this version measures the links of threads, mpi and cuda only";
  try {
    if (name == "cuda") return Measured{gpu_links(flags, std::make_unique<Gpus>())};
    const std::unique_ptr<Backend> backend = make_backend(name, options);
    if (!backend->availability().here)
      reason = backend->availability().reason;
    else if (auto* const mpi = dynamic_cast<MpiBackend*>(backend.get()))
      return rank_links(flags, *mpi);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::absent) throw;
    reason = e.what();
  }
  say(fmt::format("collmark: {}: skipped, {}\n", name, reason));
  return std::nullopt;
}

bool joins(const std::vector<std::string>& asked) {
  return joins_mpi_job() && std::find(asked.begin(), asked.end(), "mpi") != asked.end();
}

int measure_and_write(const LinkFlags& flags, const std::vector<std::string>& asked) {
  if (!flags.size.empty()) (void)size_from(flags, flags.size);  // before anything is measured
  std::optional<LinkCsv> csv;
  if (!flags.csv.empty()) csv.emplace(flags.csv);
  std::vector<LinkTable> all;
  std::exception_ptr end;
  for (const std::string& name : asked)
    if (std::optional<Measured> measured = links_of(name, flags)) {
      all.push_back(std::move(measured->links));
      if ((end = measured->end)) break;  // a launcher may end what is left of the job at any time
    }
  const bool absent = !end && all.size() < asked.size();
  const int status = absent && !flags.allow_missing ? exit_code(ErrorKind::absent) : 0;
  if (all.empty()) return status;
  if (csv) csv->write(link_csv_rows(all));
  if (flags.json) {
    put(json_text(link_document(all)));
  } else {
    for (const LinkTable& links : all)
      put((&links == &all.front() ? "" : "\n") + link_table(links));
  }
  if (end) std::rethrow_exception(end);
  return status;
}

int links(const LinkFlags& flags) {
  const std::vector<std::string> asked = split_list("--backend", flags.backend);
  const bool joined = joins(asked);
  if (!joined) refuse_launcher();
  if (joined && launcher()->rank > 0)
    return follow_mpi_job({.timeout = std::chrono::seconds(flags.timeout)}), 0;
  const auto measure = [&] { return measure_and_write(flags, asked); };
  return joined ? as_rank_0(measure) : measure();
}

}  // namespace

void add_links(CLI::App& app, int& status) {
  auto* const command =
      app.add_subcommand("links", "how far apart the ranks are: every pair, a flag and a copy");
  const auto flags = std::make_shared<LinkFlags>();
  command->add_option("--backend", flags->backend, "threads, mpi, cuda")->capture_default_str();
  command->add_option("--size", flags->size, "bytes that are copied (default: 1M; cuda 64M)");
  command
      ->add_option("--ranks", flags->ranks,
                   "mpi: how many take part (default: the job, or one for each core)")
      ->check(CLI::PositiveNumber);
  command->add_option("--hostfile", flags->hostfile, "mpi: for mpirun (default: this host alone)");
  command->add_option("--launcher-args", flags->launcher_arguments,
                      "mpi: more words for mpirun, as a shell would split them");
  command->add_option("--timeout", flags->timeout, "mpi, cuda: seconds of any single wait")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--csv", flags->csv, "one row per pair; of ranks and GPUs one per direction");
  command->add_flag("--json", flags->json, "one JSON document on stdout");
  command->add_flag("--allow-missing", flags->allow_missing, "an absent backend is no error");
  command->footer("Example:  collmark links --json");
  command->callback([&status, flags] { status = links(*flags); });
}

}  // namespace collmark
