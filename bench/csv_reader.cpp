#include "bench/csv_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "bench/read_file.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

/// Takes one record from the front of `text`; a quoted cell may hold line ends.
struct Scanner {
  std::string_view text;
  const std::string& path;
  std::size_t line = 1;

  std::vector<std::string> record() {
    const std::size_t first_line = line;
    std::vector<std::string> cells(1);
    bool quoted = false;
    while (!text.empty()) {
      const char c = text.front();
      text.remove_prefix(1);
      if (c == '\n') ++line;
      if (quoted) {
        if (c != '"')
          cells.back() += c;
        else if (text.starts_with('"'))
          cells.back() += '"', text.remove_prefix(1);
        else
          quoted = false;
      } else if (c == '"' && cells.back().empty()) {
        quoted = true;
      } else if (c == ',') {
        cells.emplace_back();
      } else if (c == '\n') {
        return cells;
      } else if (c != '\r') {
        cells.back() += c;
      }
    }
    if (quoted)
      throw Error(ErrorKind::usage,
                  fmt::format("{}:{}: a quote is never closed", path, first_line));
    return cells;
  }
};

}  // namespace

CsvTable CsvTable::read(const std::string& path) { return parse(read_file(path), path); }

CsvTable CsvTable::parse(std::string_view text, const std::string& path) {
  if (text.empty())
    throw Error(ErrorKind::usage, fmt::format("{}:1: expected a header, the file is empty", path));
  CsvTable table;
  table.path_ = path;
  Scanner scanner{text, path};
  table.header_ = scanner.record();
  while (!scanner.text.empty()) {
    const std::size_t line = scanner.line;
    std::vector<std::string> cells = scanner.record();
    if (cells.size() != table.header_.size())
      throw Error(ErrorKind::usage,
                  fmt::format("{}:{}: expected {} cells as in the header, found {}", path, line,
                              table.header_.size(), cells.size()));
    table.cells_.push_back(std::move(cells));
    table.lines_.push_back(line);
  }
  return table;
}

std::optional<std::size_t> CsvTable::index(std::string_view column) const {
  const auto found = std::find(header_.begin(), header_.end(), column);
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

bool CsvTable::has(std::string_view column) const { return index(column).has_value(); }

const std::string& CsvTable::cell(std::size_t row, std::string_view column) const {
  const std::optional<std::size_t> at = index(column);
  if (!at)
    throw Error(ErrorKind::usage, fmt::format("{}:1: expected a column '{}'", path_, column));
  return cells_[row][*at];
}

std::optional<double> CsvTable::number(std::size_t row, std::string_view column) const {
  const std::string& text = cell(row, column);
  if (text.empty()) return std::nullopt;
  double value = 0.0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    throw Error(ErrorKind::usage, fmt::format("{}: expected a number in column {}, found '{}'",
                                              where(row), column, text));
  return value;
}

std::optional<std::int64_t> CsvTable::whole(std::size_t row, std::string_view column,
                                            WholeRange range) const {
  const std::string& text = cell(row, column);
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = fault == std::errc{} && end == text.data() + text.size();
  if (!all || value < range.least || value > range.most)
    throw Error(ErrorKind::usage,
                fmt::format("{}: expected a whole number from {} to {} in column {}, found '{}'",
                            where(row), range.least, range.most, column, text));
  return value;
}

std::string CsvTable::where(std::size_t row) const {
  return fmt::format("{}:{}", path_, lines_[row]);
}

}  // namespace collmark
