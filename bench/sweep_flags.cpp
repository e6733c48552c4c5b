#include "bench/sweep_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/choice.hpp"
#include "bench/in_range.hpp"
#include "bench/launcher.hpp"
#include "bench/mpi_backend.hpp"
#include "bench/size_grammar.hpp"
#include "topologies/host.hpp"

namespace collmark {
namespace {

constexpr int kMost = 1'000'000'000;

/// nccl-tests' names of our dtypes.
std::string our_dtype(const std::string& word) {
  static const std::map<std::string, std::string> names{
      {"float", "f32"}, {"double", "f64"}, {"half", "f16"},  {"bfloat16", "bf16"},
      {"int32", "i32"}, {"int", "i32"},    {"int64", "i64"}, {"uint8", "u8"}};
  const auto found = names.find(word);
  return found == names.end() ? word : found->second;
}

std::vector<Dtype> dtypes_from(const std::string& text) {
  std::string ours;
  for (const std::string& word : split_list("--dtype", text)) ours += our_dtype(word) + ",";
  ours.pop_back();
  return choose_all("--dtype", ours, kDtypes);
}

std::vector<Bytes> sizes_from(const SweepFlags& f) {
  if (f.begin.empty() && f.end.empty()) {
    if (!f.factor.empty() || !f.step.empty())
      throw Error(ErrorKind::usage, "-f and -i need a range: -b and -e");
    return parse_sizes(f.sizes);
  }
  if (f.begin.empty() || f.end.empty())
    throw Error(ErrorKind::usage, "-b and -e belong together: -b 8 -e 64M -f 4");
  if (parse_size(f.begin) == parse_size(f.end)) return {parse_size(f.begin)};
  if (f.factor.empty() == f.step.empty())
    throw Error(ErrorKind::usage, "a range needs either -f FACTOR or -i STEP");
  return parse_sizes(fmt::format("{}:{}:{}{}", f.begin, f.end, f.factor.empty() ? "+" : "x",
                                 f.factor.empty() ? f.step : f.factor));
}

std::vector<std::string> backends_from(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& word : split_list("--backend", text))
    names.push_back(backend_names()[choose_index("--backend", word, backend_names())]);
  return names;
}

/// As many as there are: ranks of the job, or cores.
std::string default_ranks() {
  if (const auto job = launcher(); job && joins_mpi_job())
    return job->ranks > 1 ? fmt::format("2:{}", job->ranks) : "1";
  const auto cores = static_cast<int>(this_host().cores.size());
  return fmt::format("2:{}", std::max(2, cores));
}

void declare_what(CLI::App& sweep, SweepFlags& f) {
  sweep.add_option("--collective", f.collective, "all_reduce, reduce_scatter, ...")
      ->capture_default_str();
  sweep
      .add_option("--algorithm", f.algorithm,
                  "names from `collmark algorithms`, all, file:PATH; over mpi NAME/window too")
      ->capture_default_str();
  sweep.add_option("--backend", f.backend, "threads, mpi, cuda, nccl")->capture_default_str();
  sweep.add_option("--ranks", f.ranks,
                   "2:8 or 2,4,8 (default: 2 to the number of cores, or of ranks in the job)");
  sweep.add_option("--sizes", f.sizes, "bytes per rank: 8:64M:x4, 1M,2M or 1M:8M:+1M")
      ->capture_default_str();
  sweep.add_option("-d,--dtype", f.dtype, "f32, f64, f16, bf16, i32, i64, u8")
      ->capture_default_str();
  sweep.add_option("-o,--op", f.op, "sum, prod, min, max, avg")->capture_default_str();
  sweep.add_option("--root", f.root, "of broadcast and reduce")
      ->check(whole_in_range(0, kMost))
      ->capture_default_str();
  sweep.add_option("--placement", f.placement, "in_place, out_of_place")->capture_default_str();
  sweep.add_option("-b", f.begin, "as nccl-tests: smallest size")->excludes("--sizes");
  sweep.add_option("-e", f.end, "as nccl-tests: largest size")->excludes("--sizes");
  sweep.add_option("-f", f.factor, "as nccl-tests: factor between sizes");
  sweep.add_option("-i", f.step, "as nccl-tests: bytes between sizes");
}

void declare_how(CLI::App& sweep, SweepFlags& f) {
  sweep.add_option("--cache", f.cache, "touched, cold, untouched")->capture_default_str();
  sweep.add_option("--mode", f.mode, "latency, throughput")->capture_default_str();
  sweep.add_option("-c,--check", f.check, "as nccl-tests: every result is checked, always")
      ->check(whole_in_range(0, kMost))
      ->capture_default_str();
}

void declare_where(CLI::App& sweep, SweepFlags& f) {
  sweep.add_option("--samples", f.samples, "a CSV of every reading of every rank");
  sweep.add_option("--hostfile", f.hostfile, "for mpirun (default: this host alone)");
  sweep.add_option("--launcher-args", f.launcher_arguments, "more words for mpirun, in quotes");
  sweep.add_flag("--processes", f.processes,
                 "cuda, nccl: a process for each rank, with a GPU of its own; we start mpirun");
  sweep.add_flag("--allow-missing", f.allow_missing, "an absent backend is no error");
}

}  // namespace

BackendOptions SweepFlags::backend_options() const {
  BackendOptions options = RunFlags::backend_options();
  options.hostfile = hostfile;
  options.launcher_arguments = launcher_arguments;
  options.processes = processes;
  return options;
}

void declare(CLI::App& sweep, SweepFlags& f) {
  declare_what(sweep, f);
  declare_how(sweep, f);
  declare_run(sweep, f);
  declare_kernels(sweep, f.kernels);
  declare_misalignment(sweep, f.kernels);
  declare_where(sweep, f);
}

SweepConfig config_from(const SweepFlags& f) {
  if (f.check < 1)
    throw Error(ErrorKind::usage,
                "-c 0: results are always checked, there is no way to switch it off");
  return {.backends = backends_from(f.backend),
          .collectives = choose_all("--collective", f.collective, kCollectives),
          .algorithms = split_list("--algorithm", f.algorithm),
          .ranks = parse_ranks(f.ranks.empty() ? default_ranks() : f.ranks),
          .sizes = sizes_from(f),
          .dtypes = dtypes_from(f.dtype),
          .ops = choose_all("--op", f.op, kReduceOps),
          .placements = choose_all("--placement", f.placement, kPlacements),
          .caches = choose_all("--cache", f.cache, kCacheStates),
          .modes = choose_all("--mode", f.mode, kModes),
          .root = f.root,
          .launches = f.launches,
          .hostfile = f.hostfile,
          .launcher_arguments = f.launcher_arguments,
          .tunings = f.kernels.tunings(),
          .processes = f.processes,
          .measure = f.measure_options(),
          .seed = f.seed};
}

}  // namespace collmark
