#include "bench/lost_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <regex>

namespace collmark {
namespace {

struct Death {
  int rank;
  std::string signal;
};

std::optional<Death> named_by_open_mpi(const std::string& said) {
  static const std::regex pattern(R"(process rank (\d+)[^]{0,300}?exited on\s+signal (\d+))");
  std::smatch found;
  if (!std::regex_search(said, found, pattern)) return std::nullopt;
  return Death{std::atoi(found[1].str().c_str()), found[2]};
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
  static const std::regex pattern(
      R"(PID (\d+) RUNNING AT (\S+)[^]{0,600}?EXIT STRING: [^(\n]*\(signal (\d+)\))");
  std::smatch found;
  if (!std::regex_search(said, found, pattern)) return std::nullopt;
  const auto rank = rank_of(std::atoi(found[1].str().c_str()), found[2], processes);
  if (!rank) return std::nullopt;
  return Death{*rank, found[3]};
}

}  // namespace

std::string lost_rank(const std::string& said, const std::vector<RankProcess>& processes) {
  std::optional<Death> death = named_by_open_mpi(said);
  if (!death) death = named_by_hydra(said, processes);
  if (!death) return "";
  return fmt::format("rank {} was killed by signal {}", death->rank, death->signal);
}

}  // namespace collmark
