#include "collectives/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "collectives/schedule_file.hpp"
#include "collectives/suggest.hpp"

namespace collmark {
namespace {

#define ALGORITHM(collective, name, builder, source) \
  Algorithm{Collective::collective, #name, &builder, "", 0, source},
#define SEGMENTED(collective, name, builder, meaning, standard, source) \
  Algorithm{Collective::collective, #name, &builder, meaning, standard, source},
#define GRID(collective, name, builder, source) \
  Algorithm{Collective::collective, #name, &builder, "m x n", 0, source},
constexpr Algorithm kCatalogue[] = {
#include "collectives/catalogue.def"
};
#undef ALGORITHM
#undef SEGMENTED
#undef GRID

void require_numbers(const Algorithm& a, const AlgorithmName& asked) {
  const std::size_t allowed = a.builder.index();
  if (asked.numbers.empty() || asked.numbers.size() == allowed) return;
  const std::string_view form = allowed == 0   ? "takes no parameter"
                                : allowed == 1 ? "takes one number"
                                               : "takes MxN";
  throw Error(ErrorKind::usage,
              fmt::format("algorithm '{}' {}{}", a.name, form,
                          a.parameter.empty() ? "" : fmt::format(" ({})", a.parameter)));
}

std::vector<int> standard_numbers(const Algorithm& a, int ranks) {
  if (std::holds_alternative<Algorithm::Plain>(a.builder)) return {};
  if (std::holds_alternative<Algorithm::Segmented>(a.builder))
    return {a.standard > 0 ? a.standard : std::max(1, ranks / 2)};  // as many servers as workers
  const GridShape grid = squarest_grid(ranks);
  return {grid.m, grid.n};
}

Schedule call(const Algorithm& a, int ranks, const std::vector<int>& numbers) {
  if (const auto* plain = std::get_if<Algorithm::Plain>(&a.builder)) return (*plain)(ranks);
  if (const auto* segmented = std::get_if<Algorithm::Segmented>(&a.builder))
    return (*segmented)(ranks, numbers[0]);
  return std::get<Algorithm::Grid>(a.builder)(ranks, numbers[0], numbers[1]);
}

const Algorithm& find(Collective collective, const std::string& base) {
  std::vector<std::string> names;
  for (const Algorithm& a : kCatalogue) {
    if (a.collective != collective) continue;
    if (a.name == base) return a;
    names.emplace_back(a.name);
  }
  throw Error(ErrorKind::usage,
              fmt::format("no {} algorithm is called '{}'{}; there are: {}", name(collective), base,
                          did_you_mean(base, names), fmt::join(names, ", ")));
}

constexpr std::string_view kFilePrefix = "file:";
constexpr int kMostParameter = 65'536;  // segments, servers, nodes: as many as the most ranks

/// A file says itself what its root is; asking for another one is a mistake.
Schedule from_file(Collective collective, std::string_view text, int ranks, int root) {
  const std::string path(text.substr(kFilePrefix.size()));
  Schedule s = schedule_for(path, collective, ranks);
  if (root != 0 && root != s.root)
    throw Error(ErrorKind::usage, fmt::format("{}: its root is {}, not {}", path, s.root, root));
  return s;
}

}  // namespace

std::span<const Algorithm> catalogue() { return kCatalogue; }

std::vector<Algorithm> catalogue(Collective collective) {
  std::vector<Algorithm> some;
  for (const Algorithm& a : kCatalogue)
    if (a.collective == collective) some.push_back(a);
  return some;
}

AlgorithmName parse_algorithm(std::string_view text) {
  if (text.starts_with(kFilePrefix)) return {.base = std::string(text), .numbers = {}};
  const std::size_t colon = text.find(':');
  AlgorithmName parsed{.base = std::string(text.substr(0, colon)), .numbers = {}};
  if (colon == std::string_view::npos) return parsed;
  const char* at = text.data() + colon + 1;
  const char* const end = text.data() + text.size();
  while (true) {
    int number = 0;
    const auto [next, fault] = std::from_chars(at, end, number);
    const bool fits = fault == std::errc{} && 1 <= number && number <= kMostParameter;
    if (!fits || (next != end && *next != 'x'))
      throw Error(
          ErrorKind::usage,
          fmt::format("algorithm '{}': after the colon expected a number from 1 to {}, or MxN",
                      text, kMostParameter));
    parsed.numbers.push_back(number);
    if (next == end) return parsed;
    at = next + 1;
  }
}

AlgorithmName resolve(Collective collective, std::string_view text, int ranks) {
  AlgorithmName asked = parse_algorithm(text);
  if (text.starts_with(kFilePrefix)) return asked;
  const Algorithm& a = find(collective, asked.base);
  require_numbers(a, asked);
  if (asked.numbers.empty()) asked.numbers = standard_numbers(a, ranks);
  return asked;
}

Schedule build(Collective collective, std::string_view text, int ranks, int root) {
  if (ranks < 1)
    throw Error(ErrorKind::usage, fmt::format("ranks must be at least 1, not {}", ranks));
  if (root < 0 || root >= ranks)
    throw Error(ErrorKind::usage, fmt::format("root {} is not one of {} ranks", root, ranks));
  if (root != 0 && !has_root(collective))
    throw Error(ErrorKind::usage, fmt::format("{} has no root, so not {}", name(collective), root));
  if (text.starts_with(kFilePrefix)) return from_file(collective, text, ranks, root);
  const AlgorithmName asked = resolve(collective, text, ranks);
  Schedule s = call(find(collective, asked.base), ranks, asked.numbers);
  s.collective = collective;
  if (root == 0) return s;
  s = renumbered(std::move(s), ranks, [=](int rank) { return mod(rank + root, ranks); });
  s.root = root;
  return s;
}

GridShape squarest_grid(int ranks) {
  GridShape best{1, ranks};
  for (int m = 2; m * m <= ranks; ++m)
    if (ranks % m == 0) best = {m, ranks / m};
  return best;
}

}  // namespace collmark
