#include "bench/link_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <thread>

#include "bench/core_link.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace collmark {
namespace {

std::string named(int number, const std::string& host, const std::string& kind) {
  return host.empty() ? fmt::format("{} {}", kind, number)
                      : fmt::format("{} {} ({})", kind, number, host);
}

std::string from_to(const PairLink& l, const std::string& kind) {
  return named(l.first, l.first_host, kind) + " to " + named(l.second, l.second_host, kind);
}

/// "0.25 times the median"
std::string beside_median(double value, std::vector<double> all) {
  return rounded(value / median(std::move(all)), 2) + " times the median";
}

template <class Rate>
std::string slowest_copy(const std::vector<PairLink>& links, const std::string& kind, Rate rate) {
  std::vector<double> rates;
  for (const PairLink& link : links) rates.push_back(rate(link));
  const auto place = std::min_element(rates.begin(), rates.end()) - rates.begin();
  const PairLink& link = links[static_cast<std::size_t>(place)];
  return fmt::format("{}, {} GB/s, {}\n", from_to(link, kind), rounded(rate(link)),
                     beside_median(rate(link), rates));
}

/// Without pairs that are none, or that were not measured.
std::vector<PairLink> measured(const std::vector<PairLink>& all) {
  std::vector<PairLink> links;
  std::copy_if(all.begin(), all.end(), std::back_inserter(links),
               [](const PairLink& link) { return link.is_link(); });
  return links;
}

}  // namespace

double gb_per_s(Bytes size, Seconds time) {
  return static_cast<double>(size.value) / time.count() / 1e9;
}

std::vector<std::vector<IndexPair>> disjoint_rounds(std::size_t n) {
  // One stays, the others walk around a circle; with an odd number the one who stays is nobody.
  std::vector<std::vector<IndexPair>> rounds;
  const std::size_t even = n + n % 2, walking = even - 1;
  for (std::size_t round = 0; even > 0 && round < walking; ++round) {
    std::vector<IndexPair> pairs;
    const auto add = [&](std::size_t a, std::size_t b) {
      if (a < n && b < n) pairs.push_back({std::min(a, b), std::max(a, b)});
    };
    add(walking, round);
    for (std::size_t i = 1; i < even / 2; ++i)
      add((round + i) % walking, (round + walking - i) % walking);
    rounds.push_back(std::move(pairs));
  }
  return rounds;
}

std::vector<PairLink> measure_links(const std::vector<int>& cores, Bytes copied) {
  std::vector<PairLink> links;
  for (const std::vector<IndexPair>& round : disjoint_rounds(cores.size())) {
    const std::size_t begin = links.size();
    for (const IndexPair& pair : round) {
      const CorePair between{cores[pair.first], cores[pair.second]};
      links.push_back({.first = between.first,
                       .second = between.second,
                       .flag = flag_time(between),
                       .copy_gb_per_s = gb_per_s(copied, copy_time(between, copied))});
    }
    std::vector<std::thread> together;
    for (std::size_t i = begin; i < links.size(); ++i)
      together.emplace_back([&link = links[i], copied] {
        link.shared_gb_per_s = gb_per_s(copied, copy_time({link.first, link.second}, copied));
      });
    for (std::thread& t : together) t.join();
  }
  sort_by_pair(links);
  return links;
}

void sort_by_pair(std::vector<PairLink>& links) {
  std::sort(links.begin(), links.end(), [](const PairLink& a, const PairLink& b) {
    return std::pair(a.first, a.second) < std::pair(b.first, b.second);
  });
}

std::vector<PairLink> without_common_host(std::vector<PairLink> links) {
  const auto same = [](const PairLink& l) { return l.first_host == l.second_host; };
  if (std::all_of(links.begin(), links.end(), same))
    for (PairLink& link : links) link.first_host = link.second_host = "";
  return links;
}

std::string slowest_links(const std::vector<PairLink>& all, const std::string& kind) {
  const std::vector<PairLink> links = without_common_host(measured(all));
  if (links.empty()) return "";
  std::vector<double> flags;
  for (const PairLink& link : links) flags.push_back(link.flag.count());
  const auto slowest = std::max_element(flags.begin(), flags.end());
  const PairLink& flag = links[static_cast<std::size_t>(slowest - flags.begin())];
  return fmt::format("slowest flag: {}, {}, {}\n", from_to(flag, kind), readable(flag.flag),
                     beside_median(flag.flag.count(), flags)) +
         "slowest copy: " +
         slowest_copy(links, kind, [](const PairLink& link) { return link.copy_gb_per_s; }) +
         "slowest copy, all pairs at once: " + slowest_copy(links, kind, [](const PairLink& link) {
           return link.shared_gb_per_s.value_or(0);
         });
}

}  // namespace collmark
