#include "bench/pick.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/schedule_file.hpp"
#include "collectives/suggest.hpp"

namespace collmark {
namespace {

constexpr std::string_view kFilePrefix = "file:";

/// For who asks for `all_reduce` where an algorithm is meant.
[[noreturn]] void is_collective(Collective collective) {
  std::vector<std::string_view> names;
  for (const Algorithm& a : catalogue(collective)) names.push_back(a.name);
  throw Error(ErrorKind::usage, fmt::format("{} is a collective; its algorithms are: {}",
                                            name(collective), fmt::join(names, ", ")));
}

[[noreturn]] void unknown(const std::string& base, std::optional<Collective> only) {
  if (const auto collective = parse_collective(base)) is_collective(*collective);
  std::vector<std::string> names;
  for (const Algorithm& a : catalogue())
    if (!only || a.collective == *only) names.emplace_back(a.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  throw Error(ErrorKind::usage, fmt::format("no {}algorithm is called '{}'{}; there are: {}",
                                            only ? fmt::format("{} ", name(*only)) : "", base,
                                            did_you_mean(base, names), fmt::join(names, ", ")));
}

}  // namespace

bool is_file(std::string_view algorithm) { return algorithm.starts_with(kFilePrefix); }

std::string path_of(std::string_view algorithm) {
  return std::string(algorithm.substr(kFilePrefix.size()));
}

std::vector<Pick> picks(std::string_view algorithm, std::optional<Collective> only) {
  const std::string asked(algorithm);
  if (is_file(algorithm)) {
    const Schedule s = read_schedule(path_of(algorithm));
    if (only && *only != s.collective) (void)schedule_for(path_of(algorithm), *only, s.ranks);
    return {{s.collective, asked}};
  }
  const std::string base = parse_algorithm(algorithm).base;
  std::vector<Pick> found;
  for (const Algorithm& a : catalogue())
    if (a.name == base && (!only || a.collective == *only)) found.push_back({a.collective, asked});
  if (found.empty()) unknown(base, only);
  return found;
}

Pick pick_one(std::string_view algorithm, std::optional<Collective> only) {
  const std::vector<Pick> found = picks(algorithm, only);
  if (found.size() == 1 || found.front().collective == Collective::all_reduce) return found.front();
  std::vector<std::string_view> collectives;
  for (const Pick& p : found) collectives.push_back(name(p.collective));
  throw Error(ErrorKind::usage,
              fmt::format("'{}' is an algorithm of {}: say which with --collective", algorithm,
                          fmt::join(collectives, " and of ")));
}

const Algorithm* entry(const Pick& pick) {
  if (is_file(pick.algorithm)) return nullptr;
  const std::string base = parse_algorithm(pick.algorithm).base;
  for (const Algorithm& a : catalogue())
    if (a.collective == pick.collective && a.name == base) return &a;
  return nullptr;
}

std::vector<int> numbers_of(const Pick& pick, int ranks) {
  return resolve(pick.collective, pick.algorithm, ranks).numbers;
}

std::string ranges(const std::vector<int>& numbers) {
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    pieces.push_back(last == i ? fmt::format("{}", numbers[i])
                               : fmt::format("{}-{}", numbers[i], numbers[last]));
    i = last + 1;
  }
  return fmt::format("{}", fmt::join(pieces, ","));
}

}  // namespace collmark
