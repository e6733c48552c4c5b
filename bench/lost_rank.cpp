#include "bench/lost_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <regex>
#include <string_view>

namespace collmark {
namespace {

struct Death {
  int rank;
  std::string how;  // "was killed by signal 9"
};

/// Of a death whose words have the rank first, then a number.
std::optional<Death> found_by(const std::regex& pattern, const std::string& said,
                              std::string_view how) {
  std::smatch found;
  if (!std::regex_search(said, found, pattern)) return std::nullopt;
  return Death{std::atoi(found[1].str().c_str()), fmt::format("{} {}", how, found[2].str())};
}

constexpr std::string_view kKilled = "was killed by signal", kExited = "ended with exit code",
                           kAborted = "called MPI_Abort with";

std::optional<Death> named_by_open_mpi(const std::string& said) {
  static const std::regex killed(R"(process rank (\d+)[^]{0,300}?exited on\s+signal (\d+))");
  static const std::regex aborted(
      R"(MPI_ABORT was invoked on rank (\d+) in communicator MPI_COMM_WORLD\s+with errorcode (-?\d+))");
  static const std::regex exited(R"(Process name: \[\[\d+,\d+\],(\d+)\]\s+Exit code:\s+(\d+))");
  std::optional<Death> death = found_by(killed, said, kKilled);
  if (!death) death = found_by(aborted, said, kAborted);
  if (!death) death = found_by(exited, said, kExited);
  return death;
}

/// A pid alone is enough, unless several hosts have one like it. Hosts may have names that the launcher does not use.
std::optional<int> rank_of(int pid, const std::string& host,
                           const std::vector<RankProcess>& processes) {
  const auto has_pid = [&](const RankProcess& p) { return p.pid == pid; };
  const auto is_it = [&](const RankProcess& p) { return p.pid == pid && p.host == host; };
  const bool unique = std::count_if(processes.begin(), processes.end(), has_pid) == 1;
  const auto found = unique ? std::find_if(processes.begin(), processes.end(), has_pid)
                            : std::find_if(processes.begin(), processes.end(), is_it);
  if (found == processes.end()) return std::nullopt;
  return static_cast<int>(found - processes.begin());
}

std::optional<Death> named_by_hydra(const std::string& said,
                                    const std::vector<RankProcess>& processes) {
  static const std::regex process(R"(PID (\d+) RUNNING AT (\S+)(?:\s+=\s+EXIT CODE: (\d+))?)");
  static const std::regex killed(R"(EXIT STRING: [^(\n]*\(signal (\d+)\))");
  std::smatch found, signal;
  if (!std::regex_search(said, found, process)) return std::nullopt;
  const auto rank = rank_of(std::atoi(found[1].str().c_str()), found[2], processes);
  if (!rank) return std::nullopt;
  if (std::regex_search(said, signal, killed))
    return Death{*rank, fmt::format("{} {}", kKilled, signal[1].str())};
  if (!found[3].matched) return std::nullopt;
  return Death{*rank, fmt::format("{} {}", kExited, found[3].str())};
}

}  // namespace

std::string lost_rank(const std::string& said, const std::vector<RankProcess>& processes) {
  std::optional<Death> death = named_by_open_mpi(said);
  if (!death) death = named_by_hydra(said, processes);
  if (!death) return "";
  return fmt::format("rank {} {}", death->rank, death->how);
}

std::chrono::milliseconds grace_of(std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kLeast{300};
  return std::max(timeout / 2, kLeast);
}

std::string silent_ranks(int ranks, const std::set<int>& heard, std::chrono::milliseconds grace) {
  std::string who;
  if (ranks < 2) return who;
  for (int r = 0; r < ranks; ++r)
    if (!heard.contains(r))
      who += fmt::format("; rank {} had said nothing {} s later", r,
                         static_cast<double>(grace.count()) / 1000.0);
  return who;
}

}  // namespace collmark
