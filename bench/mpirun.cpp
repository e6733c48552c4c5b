#include "bench/mpirun.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "bench/allocation.hpp"
#include "bench/on_path.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr std::chrono::milliseconds kAnswer{10'000};  // for `mpirun --version`

void append(std::vector<std::string>& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
}

bool mentions(const std::vector<std::string>& words, std::string_view option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word.find(option) != std::string::npos;
  });
}

bool is_crowded(const MpirunRequest& request) {
  return request.cores > 0 && static_cast<std::size_t>(request.ranks) > request.cores;
}

/// Slots are no limit: whoever asks for more ranks than cores gets them, and rows that say so. What the
/// user says about placement stands alone, since two such options contradict each other. Where hwloc, which mpirun asks,
/// counts fewer cores than the kernel, mpirun would refuse: hence the overload.
void add_open_mpi_options(std::vector<std::string>& words, const MpirunRequest& request,
                          const std::vector<std::string>& own) {
  if (!request.hostfile.empty()) append(words, {"--hostfile", request.hostfile});
  if (!mentions(own, "map-by") && !mentions(own, "oversubscribe") && !mentions(own, "rankfile"))
    append(words, {"--map-by", "slot:OVERSUBSCRIBE"});  // 5 without "slot": all on one host
  if (request.cores == 0 || mentions(own, "bind-to")) return;
  if (is_crowded(request)) {
    append(words, {"--bind-to", "none"});
  } else if (static_cast<std::size_t>(request.ranks) <= request.physical_cores) {
    append(words, {"--bind-to", "core:overload-allowed"});
  } else {
    append(words, {"--use-hwthread-cpus", "--bind-to", "hwthread:overload-allowed"});
  }
}

std::vector<std::string> open_mpi_environment(const MpirunRequest& request) {
  std::vector<std::string> environment{
      "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_ALLOW_RUN_AS_ROOT=1",
      "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
  if (is_crowded(request)) environment.emplace_back("OMPI_MCA_mpi_yield_when_idle=1");
  return environment;
}

Mpirun::Dialect dialect_of(std::string_view library) {
  return library.starts_with("Open MPI") ? Mpirun::Dialect::open_mpi : Mpirun::Dialect::hydra;
}

/// What kind of launcher that is; without a path if it does not start.
Mpirun asked(const std::string& path) {
  Mpirun found{.path = path};
  if (path.empty()) return found;
  try {
    ChildProcess version({.words = {path, "--version"}, .environment = {}});
    while (const auto line = version.next_line(kAnswer))
      if (line->text.find("HYDRA") != std::string::npos ||
          line->text.find("Intel") != std::string::npos)
        found.dialect = Mpirun::Dialect::hydra;
  } catch (const Error&) {
    found.path.clear();
  }
  return found;
}

}  // namespace

bool ranks_may_be_elsewhere(const std::string& hostfile) {
  constexpr std::array kSaysSo{"OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile"};
  const bool named = std::any_of(kSaysSo.begin(), kSaysSo.end(), [](const char* variable) {
    return std::getenv(variable) != nullptr;
  });
  return !hostfile.empty() || named || allocation_reaches_elsewhere();
}

Mpirun find_mpirun(std::string_view library) {
  constexpr std::array kNames{"mpirun", "mpiexec", "mpirun.mpich", "mpirun.openmpi"};
  Mpirun first;
  for (const char* const name : kNames) {
    Mpirun found = asked(on_path(name));
    if (found.path.empty()) continue;
    if (library.empty() || found.dialect == dialect_of(library)) return found;
    if (first.path.empty()) first = found;
  }
  return first;
}

ChildCommand mpirun_command(const Mpirun& mpirun, const MpirunRequest& request,
                            const std::vector<std::string>& program) {
  const std::vector<std::string> own = shell_words(request.arguments);
  ChildCommand command{.words = {mpirun.path, "-n", fmt::format("{}", request.ranks)},
                       .environment = {}};
  if (mpirun.dialect == Mpirun::Dialect::open_mpi) {
    add_open_mpi_options(command.words, request, own);
    command.environment = open_mpi_environment(request);
  } else if (!request.hostfile.empty()) {
    append(command.words, {"-f", request.hostfile});
  }
  command.words.insert(command.words.end(), own.begin(), own.end());
  command.words.insert(command.words.end(), program.begin(), program.end());
  return command;
}

std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;  // of a word
  char quote = 0;
  for (const char c : text) {
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
      if (!inside) words.emplace_back();
      inside = true;
    } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      inside = false;
    } else {
      if (!inside) words.emplace_back();
      inside = true;
      words.back() += c;
    }
  }
  if (quote != 0)
    throw Error(ErrorKind::usage, fmt::format("--launcher-args: a {} is not closed", quote));
  return words;
}

}  // namespace collmark
