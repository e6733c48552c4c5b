#include "bench/fit_input.hpp"

#include <fmt/format.h>

#include <string_view>

#include "bench/csv_reader.hpp"
#include "bench/variant.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/cost.hpp"

namespace collmark {
namespace {

constexpr int kMostRanks = 4096;  // counting the bytes of one row of them takes a second
constexpr std::int64_t kMostCount = std::int64_t{1} << 50;

/// Bytes that the busiest rank reduces: not a column, counted from the schedule. 0 for a library,
/// whose schedule is its own.
double reduced_bytes(const CsvTable& table, std::size_t row) {
  const std::string& algorithm = table.cell(row, "algorithm");
  const auto collective = parse_collective(table.cell(row, "collective"));
  const auto dtype = parse_dtype(table.cell(row, "dtype"));
  if (!collective)
    throw Error(ErrorKind::usage, fmt::format("{}: expected a collective, found '{}'",
                                              table.where(row), table.cell(row, "collective")));
  if (!dtype)
    throw Error(ErrorKind::usage, fmt::format("{}: expected a dtype, found '{}'", table.where(row),
                                              table.cell(row, "dtype")));
  if (algorithm.starts_with("library")) return 0.0;
  const auto ranks = static_cast<int>(table.whole(row, "ranks", {1, kMostRanks}).value_or(0));
  const Elements count{table.whole(row, "count", {0, kMostCount}).value_or(0)};
  try {
    return static_cast<double>(
        cost(build(*collective, split_variant(algorithm).algorithm, ranks), count, *dtype)
            .busiest_reduced.value);
  } catch (const Error& e) {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", table.where(row), e.what()));
  }
}

bool is_usable(const CsvTable& table, std::size_t row) {
  return table.cell(row, "status") == "ok" && table.cell(row, "mode") == "latency" &&
         table.number(row, "time_us_p50").value_or(0.0) > 0.0 && table.number(row, "rounds") &&
         table.number(row, "wire_bytes_busiest");
}

std::string cell_or_nothing(const CsvTable& table, std::size_t row, std::string_view column) {
  return table.has(column) ? table.cell(row, column) : "";
}

Spread hosts_of(const CsvTable& table, std::size_t row) {
  const double nodes = table.has("nodes") ? table.number(row, "nodes").value_or(1.0) : 1.0;
  if (nodes <= 1.0) return Spread::one;
  return nodes == table.number(row, "ranks") ? Spread::one_a_rank : Spread::several;
}

/// What was asked of kernels, and whether they went by lines where nobody asked for a protocol: other constants.
std::string tuning_of(const CsvTable& table, std::size_t row) {
  std::string asked = cell_or_nothing(table, row, "asked_tuning");
  constexpr std::string_view kLines = "protocol=LL";
  const bool by_lines = table.cell(row, "backend") == "cuda" &&
                        cell_or_nothing(table, row, "tuning").find(kLines) != std::string::npos &&
                        !table.cell(row, "algorithm").ends_with("/LL");
  if (by_lines) asked += fmt::format("{}{}", asked.empty() ? "" : " ", kLines);
  return asked;
}

FitKey key_of(const CsvTable& table, std::size_t row) {
  return {.backend = table.cell(row, "backend"),
          .collective = table.cell(row, "collective"),
          .algorithm = table.cell(row, "algorithm"),
          .dtype = table.cell(row, "dtype"),
          .placement = cell_or_nothing(table, row, "placement"),
          .cache = cell_or_nothing(table, row, "cache"),
          .tuning = tuning_of(table, row),
          .hosts = hosts_of(table, row),
          .oversubscribed = table.number(row, "oversubscribed") == 1.0};
}

/// A step packs, reduces and unpacks many buckets: its time is not that of one collective.
void refuse_steps(const CsvTable& table, const std::string& path) {
  if (table.has("model") && table.has("policy"))
    throw Error(
        ErrorKind::usage,
        fmt::format("{}:1: these rows are training steps; expected those of a sweep", path));
}

}  // namespace

FitInput fit_input(const std::string& path) {
  const CsvTable table = CsvTable::read(path);
  refuse_steps(table, path);
  FitInput input;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!is_usable(table, row)) {
      ++input.left_out;
      continue;
    }
    FitRows& group = input.groups[key_of(table, row)];
    group.observations.push_back(
        {{*table.number(row, "rounds"), *table.number(row, "wire_bytes_busiest"),
          reduced_bytes(table, row)},
         *table.number(row, "time_us_p50") * 1e-6});
    group.counts.insert(table.whole(row, "count", {0, kMostCount}).value_or(0));
    ++input.used;
  }
  return input;
}

}  // namespace collmark
