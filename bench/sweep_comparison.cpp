#include "bench/sweep_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace collmark {
namespace {

/// What the lines of one comparison have in common.
using Group =
    std::tuple<std::string, Collective, int, Dtype, ReduceOp, Placement, CacheState, Mode>;

Group group_of(const Record& r) {
  return {r.backend, r.c.collective, r.c.ranks,         r.c.dtype,
          r.c.op,    r.c.placement,  r.c.measure.cache, r.c.measure.mode};
}

/// The medians of the launches [s] by size and algorithm.
struct Comparison {
  std::map<std::int64_t, std::map<std::string, std::vector<double>>> times;
  std::vector<std::string> algorithms;  // in order of appearance by name
  bool ranked = true;
};

std::string title(const Record& r) {
  return fmt::format("{} on {}, {} ranks, {}{}, {}, {}, {}{}", name(r.c.collective), r.backend,
                     r.c.ranks, name(r.c.dtype),
                     reduces(r.c.collective) ? fmt::format(" {}", name(r.c.op)) : "",
                     name(r.c.placement), name(r.c.measure.cache), name(r.c.measure.mode),
                     r.result.oversubscribed ? " (more ranks than cores)" : "");
}

std::string lines(const Comparison& c) {
  std::vector<Column> columns{{.name = "size"}};
  for (const std::string& algorithm : c.algorithms) columns.push_back({.name = algorithm});
  std::vector<std::vector<std::string>> rows;
  for (const auto& [size, by_algorithm] : c.times) {
    double best = HUGE_VAL;
    for (const auto& [algorithm, launches] : by_algorithm) best = std::min(best, median(launches));
    rows.push_back({readable(Bytes{size})});
    for (const std::string& algorithm : c.algorithms) {
      const auto found = by_algorithm.find(algorithm);
      if (found == by_algorithm.end()) {
        rows.back().emplace_back("-");
        continue;
      }
      const double time = median(found->second);
      rows.back().push_back(readable(Seconds(time)) + (c.ranked && time == best ? " *" : ""));
    }
  }
  return fitted(std::move(columns), rows);
}

}  // namespace

std::string comparison(const std::vector<Record>& records) {
  std::map<Group, std::pair<std::string, Comparison>> groups;
  for (const Record& r : records) {
    if (r.result.status != Status::ok) continue;
    auto& [heading, c] = groups[group_of(r)];
    heading = title(r);
    c.times[r.c.size().value][r.result.algorithm].push_back(r.result.measurement.time.p50);
    if (std::find(c.algorithms.begin(), c.algorithms.end(), r.result.algorithm) ==
        c.algorithms.end())
      c.algorithms.push_back(r.result.algorithm);
    c.ranked = c.ranked && r.c.ranks > 2 && !r.result.oversubscribed;
  }
  std::string text;
  for (auto& [group, entry] : groups) {
    auto& [heading, c] = entry;
    std::sort(c.algorithms.begin(), c.algorithms.end());
    if (c.algorithms.size() > 1) text += fmt::format("\n{}\n{}", heading, lines(c));
  }
  if (text.find('*') != std::string::npos) text += "* the fastest of its line\n";
  return text;
}

}  // namespace collmark
