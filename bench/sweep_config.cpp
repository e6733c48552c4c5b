#include "bench/sweep_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "bench/gpu_knobs.hpp"
#include "bench/library_name.hpp"
#include "bench/mpi_support.hpp"
#include "bench/nccl_name.hpp"
#include "bench/shuffle.hpp"
#include "bench/variant.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr Seconds kPreparation{0.05};  // of one case beside its warm-up and its timing, roughly
constexpr Seconds kLongestWarmUp{1.0};
constexpr int kManyRanks = 1'024;   // enough to see that a name is known; more take time to build
constexpr double kMostCases = 1e6;  // some hours, and some hundred MB for the plan

/// A name that the backend's library does not know must not be found out case by case.
void require_known_to_library(Collective collective, const std::string& asked,
                              const std::string& backend) {
  if (backend == "nccl") {
    (void)parse_nccl_name(asked);
    return;
  }
  const LibraryName name = parse_library_name(asked);
  if (name.algorithm.empty()) return;
  const std::vector<LibraryAlgorithm> choices = library_algorithms(collective);
  if (choices.empty()) return;  // rows will say so
  (void)choose_library_algorithm(collective, name, choices);
}

/// The names that stand for `library:all`: none on a library that cannot be told.
std::vector<std::string> library_names(Collective collective, const std::string& backend) {
  std::vector<std::string> names;
  if (backend == "nccl") {
    for (const std::string& name : nccl_algorithms(collective)) names.push_back("library:" + name);
    return names;
  }
  for (const LibraryAlgorithm& a : library_algorithms(collective))
    names.push_back("library:" + a.name);
  return names;
}

/// The names as asked for, "all" spelt out, each known to the catalogue (or a library's).
std::vector<std::string> algorithms_of(Collective collective, const SweepConfig& config,
                                       const std::string& backend) {
  std::vector<std::string> names;
  for (const std::string& asked : config.algorithms) {
    const auto [algorithm, variant, launching] = split_variant(asked);
    if (algorithm == "all") {
      for (const Algorithm& a : catalogue(collective))
        names.push_back(joined(a.name, variant, launching));
      continue;
    }
    if (asked == "library:all") {
      for (std::string& name : library_names(collective, backend)) names.push_back(std::move(name));
      continue;
    }
    if (is_library(asked))
      require_known_to_library(collective, asked, backend);
    else
      require_known(collective, algorithm, config.ranks.front());
    names.push_back(asked);
  }
  return names;
}

/// The lists that a case takes one element of each from, nested.
void for_each_case(const SweepConfig& config, std::size_t backend,
                   const std::function<void(PlannedCase)>& visit) {
  for (const Collective collective : config.collectives) {
    const std::vector<std::string> algorithms =
        algorithms_of(collective, config, config.backends[backend]);
    const bool moves_data = collective != Collective::barrier;
    const auto sizes = moves_data ? config.sizes : std::vector<Bytes>{{0}};
    const auto ops = reduces(collective) ? config.ops : std::vector{ReduceOp::sum};
    const std::vector<GpuTuning> tunings = tunings_on(config.backends[backend], config.tunings);
    for (const int ranks : config.ranks)
      for (const Dtype dtype : config.dtypes)
        for (const ReduceOp op : ops)
          for (const Placement placement : config.placements)
            for (const CacheState cache : config.caches)
              for (const Mode mode : config.modes)
                for (const Bytes size : sizes)
                  for (const std::string& algorithm : algorithms)
                    for (const GpuTuning& tuning : tunings) {
                      Case c{.collective = collective,
                             .algorithm = algorithm,
                             .ranks = ranks,
                             .count = {size.value / static_cast<std::int64_t>(size_of(dtype))},
                             .dtype = dtype,
                             .op = op,
                             .root = has_root(collective) ? config.root : 0,
                             .placement = placement,
                             .measure = config.measure,
                             .tuning = tuning};
                      c.measure.cache = cache;
                      c.measure.mode = mode;
                      visit({.backend = backend, .asked_size = size, .c = std::move(c)});
                    }
  }
}

template <class List>
std::vector<std::string> names(const List& list) {
  std::vector<std::string> all;
  for (const auto& item : list) all.emplace_back(name(item));
  return all;
}

}  // namespace

nlohmann::json to_json(const SweepConfig& config) {
  std::vector<std::int64_t> sizes;
  for (const Bytes size : config.sizes) sizes.push_back(size.value);
  nlohmann::json json{{"backend", config.backends},
                      {"collective", names(config.collectives)},
                      {"algorithm", config.algorithms},
                      {"ranks", config.ranks},
                      {"sizes", sizes},
                      {"dtype", names(config.dtypes)},
                      {"op", names(config.ops)},
                      {"placement", names(config.placements)},
                      {"cache", names(config.caches)},
                      {"mode", names(config.modes)},
                      {"root", config.root},
                      {"launches", config.launches},
                      {"iterations", config.measure.most_iterations},
                      {"time_budget", config.measure.time_budget.count()},
                      {"seed", config.seed}};
  json["warmups"] =
      config.measure.warmups ? nlohmann::json(*config.measure.warmups) : "until stable";
  if (!config.hostfile.empty()) json["hostfile"] = config.hostfile;
  if (!config.launcher_arguments.empty()) json["launcher_args"] = config.launcher_arguments;
  if (config.processes) json["processes"] = true;
  add_knobs(json, config.tunings);
  return json;
}

std::vector<PlannedCase> plan_sweep(const SweepConfig& config) {
  std::size_t backends = 0;  // with each of its tunings
  for (const std::string& backend : config.backends)
    backends += tunings_on(backend, config.tunings).size();
  double cases = static_cast<double>(config.launches);
  for (const std::size_t choices :
       {backends, config.collectives.size(), config.algorithms.size(), config.ranks.size(),
        config.sizes.size(), config.dtypes.size(), config.ops.size(), config.placements.size(),
        config.caches.size(), config.modes.size()})
    cases *= static_cast<double>(choices);
  require_plannable(cases);
  if (config.root != 0 &&
      std::none_of(config.collectives.begin(), config.collectives.end(), has_root))
    throw Error(ErrorKind::usage,
                fmt::format("--root {} is for broadcast and reduce, and neither is asked for",
                            config.root));
  std::vector<PlannedCase> once;
  for (std::size_t b = 0; b < config.backends.size(); ++b)
    for_each_case(config, b, [&](PlannedCase planned) { once.push_back(std::move(planned)); });
  std::mt19937_64 random(config.seed);
  std::vector<PlannedCase> plan;
  for (int launch = 0; launch < config.launches; ++launch) {
    shuffle(once, random);
    for (PlannedCase planned : once) {
      planned.launch = launch;
      planned.seq = static_cast<int>(plan.size());
      plan.push_back(std::move(planned));
    }
  }
  return plan;
}

void require_known(Collective collective, const std::string& algorithm, int ranks) {
  try {
    (void)build(collective, algorithm, std::min(ranks, kManyRanks));
  } catch (const Unsupported&) {  // not for these ranks: a row will say so
  }
}

void require_plannable(double cases) {
  if (cases > kMostCases)
    throw Error(
        ErrorKind::usage,
        fmt::format("{:.0f} cases are more than {:.0f}: take fewer sizes, ranks or launches", cases,
                    kMostCases));
}

Seconds longest_time(const PlannedCase& planned) {
  const Seconds budget = planned.c.measure.time_budget;
  return kPreparation + budget + std::min(budget, kLongestWarmUp);
}

}  // namespace collmark
