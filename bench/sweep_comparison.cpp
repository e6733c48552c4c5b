#include "bench/sweep_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

#include "bench/gpu_knobs.hpp"
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

/// The medians of the launches [s] by size, what was asked of kernels, and algorithm.
struct Comparison {
  using Line = std::pair<std::int64_t, GpuTuning>;
  std::map<Line, std::map<std::string, std::vector<double>>> times;
  std::vector<std::string> algorithms;  // in order of appearance by name
  bool ranked = true;
};

std::vector<GpuKnob> turned_knobs(const Comparison& c) {
  std::vector<GpuTuning> tunings;
  for (const auto& [line, by_algorithm] : c.times) tunings.push_back(line.second);
  return differing_knobs(tunings);
}

std::map<std::int64_t, double> best_by_size(const Comparison& c) {
  std::map<std::int64_t, double> best;
  for (const auto& [line, by_algorithm] : c.times)
    for (const auto& [algorithm, launches] : by_algorithm) {
      const auto [found, first] = best.try_emplace(line.first, HUGE_VAL);
      found->second = std::min(found->second, median(launches));
    }
  return best;
}

std::string title(const Record& r) {
  return fmt::format("{} on {}, {} ranks, {}{}, {}, {}, {}{}", name(r.c.collective), r.backend,
                     r.c.ranks, name(r.c.dtype),
                     reduces(r.c.collective) ? fmt::format(" {}", name(r.c.op)) : "",
                     name(r.c.placement), name(r.c.measure.cache), name(r.c.measure.mode),
                     r.result.oversubscribed ? " (more ranks than cores)" : "");
}

/// Tunings of one algorithm stand below each other: each knob that was turned is a column.
std::string lines(const Comparison& c, const std::vector<GpuKnob>& knobs) {
  std::vector<Column> columns{{.name = "size"}};
  for (const GpuKnob& knob : knobs) columns.push_back({.name = std::string(knob.name)});
  for (const std::string& algorithm : c.algorithms) columns.push_back({.name = algorithm});
  const std::map<std::int64_t, double> best = best_by_size(c);
  std::vector<std::vector<std::string>> rows;
  for (const auto& [line, by_algorithm] : c.times) {
    const auto& [size, tuning] = line;
    rows.push_back({readable(Bytes{size})});
    for (const GpuKnob& knob : knobs) rows.back().push_back(value_text(knob, tuning));
    for (const std::string& algorithm : c.algorithms) {
      const auto found = by_algorithm.find(algorithm);
      if (found == by_algorithm.end()) {
        rows.back().emplace_back("-");
        continue;
      }
      const double time = median(found->second);
      rows.back().push_back(readable(Seconds(time)) +
                            (c.ranked && time == best.at(size) ? " *" : ""));
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
    c.times[{r.c.size().value, r.c.tuning}][r.result.algorithm].push_back(
        r.result.measurement.time.p50);
    if (std::find(c.algorithms.begin(), c.algorithms.end(), r.result.algorithm) ==
        c.algorithms.end())
      c.algorithms.push_back(r.result.algorithm);
    c.ranked = c.ranked && r.c.ranks > 2 && !r.result.oversubscribed;
  }
  std::string text;
  std::string_view rivals = "line";
  for (auto& [group, entry] : groups) {
    auto& [heading, c] = entry;
    const std::vector<GpuKnob> knobs = turned_knobs(c);
    if (!knobs.empty()) rivals = "size";
    std::sort(c.algorithms.begin(), c.algorithms.end());
    if (c.algorithms.size() > 1 || !knobs.empty())
      text += fmt::format("\n{}\n{}", heading, lines(c, knobs));
  }
  if (text.find('*') != std::string::npos) text += fmt::format("* the fastest of its {}\n", rivals);
  return text;
}

}  // namespace collmark
