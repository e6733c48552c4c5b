#include "bench/step_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace collmark {
namespace {

bool same_series(const StepPoint& a, const StepPoint& b) {
  return a.model == b.model && a.policy == b.policy && a.algorithm == b.algorithm &&
         a.tuning == b.tuning && a.ranks == b.ranks;
}

/// Of all points the same tuning is no news, and is left out; else one that was left to the program needs a name too.
std::vector<StepPoint> with_tunings_named(std::span<const StepPoint> points) {
  std::vector<StepPoint> named(points.begin(), points.end());
  const bool one = std::all_of(points.begin(), points.end(), [&](const StepPoint& p) {
    return p.tuning == points.front().tuning;
  });
  for (StepPoint& p : named) p.tuning = one ? "" : p.tuning.empty() ? "auto" : p.tuning;
  return named;
}

/// Groups, in the order in which they first come.
template <class Same>
std::vector<std::vector<StepPoint>> grouped_by(std::span<const StepPoint> points, Same same) {
  std::vector<std::vector<StepPoint>> groups;
  for (const StepPoint& point : points) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& g) { return same(g.front(), point); });
    if (group == groups.end())
      groups.push_back({point});
    else
      group->push_back(point);
  }
  return groups;
}

/// One point per cap: the median of its launches.
std::vector<StepPoint> medians(std::span<const StepPoint> points) {
  const auto same_cap = [](const StepPoint& a, const StepPoint& b) { return a.cap == b.cap; };
  std::vector<StepPoint> result;
  for (const auto& launches : grouped_by(points, same_cap)) {
    std::vector<double> times;
    for (const StepPoint& point : launches) times.push_back(point.step.count());
    result.push_back(launches.front());
    result.back().step = Seconds{median(std::move(times))};
  }
  return result;
}

std::string plateau(const CapChoice& choice) {
  if (choice.tried < 2) return "";
  if (*choice.low == *choice.high) return "; no other cap tried is within 5 %";
  return fmt::format("; {} to {} are within 5 %", readable(*choice.low), readable(*choice.high));
}

std::string edge(const CapChoice& choice) {
  if (choice.tried < 2) return "";
  if (choice.smallest) return " It is the smallest cap tried: try smaller ones.";
  if (choice.largest) return " It is the largest cap tried: try larger ones.";
  return "";
}

/// "cap 16 MiB, 41.2 ms a step; 8 MiB to 64 MiB are within 5 %. Set bucket_cap_mb=16."
std::string outcome(const CapChoice& choice, Dtype dtype) {
  const StepPoint& best = choice.best;
  if (!best.cap) return fmt::format("{} a step; it has no cap.", readable(best.step));
  const BucketPolicy& policy = bucket_policy(best.policy);
  const std::string flag = flag_to_paste(policy, *best.cap, dtype);
  return fmt::format("{}cap {}, {} a step{}.{}{}", choice.tried < 2 ? "" : "best ",
                     readable(*best.cap), readable(best.step), plateau(choice),
                     flag.empty() ? "" : fmt::format(" Set {}.", flag), edge(choice));
}

std::string verdict(const CapChoice& choice, Dtype dtype) {
  const StepPoint& best = choice.best;
  return fmt::format("{}, {}, {}{}{}, {} ranks: {}{}", best.model, best.policy, best.algorithm,
                     best.tuning.empty() ? "" : " ", best.tuning, best.ranks,
                     outcome(choice, dtype),
                     best.oversubscribed ? " More ranks than cores: mind the scheduler." : "");
}

}  // namespace

CapChoice choose_cap(std::span<const StepPoint> points) {
  std::vector<StepPoint> by_cap = medians(points);
  std::sort(by_cap.begin(), by_cap.end(),
            [](const StepPoint& a, const StepPoint& b) { return a.cap < b.cap; });
  const auto best =
      std::min_element(by_cap.begin(), by_cap.end(),
                       [](const StepPoint& a, const StepPoint& b) { return a.step < b.step; });
  const auto as_good = [&](const StepPoint& p) { return p.step <= best->step * (1 + kPlateau); };
  auto low = best;
  while (low != by_cap.begin() && as_good(*(low - 1))) --low;
  auto high = best;
  while (high + 1 != by_cap.end() && as_good(*(high + 1))) ++high;
  return {.best = *best,
          .low = low->cap,
          .high = high->cap,
          .tried = by_cap.size(),
          .smallest = best == by_cap.begin(),
          .largest = best != by_cap.begin() && best + 1 == by_cap.end() &&
                     best->buckets < (best - 1)->buckets};
}

std::vector<std::string> verdicts(std::span<const StepPoint> points, Dtype dtype) {
  std::vector<StepPoint> sorted = with_tunings_named(points);
  std::stable_sort(sorted.begin(), sorted.end(), [](const StepPoint& a, const StepPoint& b) {
    return std::tie(a.model, a.ranks, a.policy, a.algorithm, a.tuning) <
           std::tie(b.model, b.ranks, b.policy, b.algorithm, b.tuning);
  });
  std::vector<std::string> sentences;
  std::vector<CapChoice> choices;
  for (const auto& series : grouped_by(sorted, same_series)) {
    choices.push_back(choose_cap(series));
    sentences.push_back(verdict(choices.back(), dtype));
  }

  const auto comparable = [](const StepPoint& a, const StepPoint& b) {
    return a.model == b.model && a.ranks == b.ranks && (a.ranks > 2 || a.algorithm == b.algorithm);
  };
  std::vector<StepPoint> ranked;
  for (const CapChoice& choice : choices)
    if (!choice.best.oversubscribed) ranked.push_back(choice.best);
  for (const auto& rivals : grouped_by(ranked, comparable)) {
    if (rivals.size() < 2) continue;
    const auto best =
        std::min_element(rivals.begin(), rivals.end(),
                         [](const StepPoint& a, const StepPoint& b) { return a.step < b.step; });
    const auto choice = std::find_if(choices.begin(), choices.end(), [&](const CapChoice& c) {
      return same_series(c.best, *best);
    });
    sentences.push_back("Fastest: " + verdict(*choice, dtype));
  }
  return sentences;
}

}  // namespace collmark
