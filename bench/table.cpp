#include "bench/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace collmark {
namespace {

constexpr int kGap = 2;  // [characters] between columns

std::string padded(const std::string& cell, const Column& column) {
  return column.align == Align::left ? fmt::format("{:<{}}", cell, column.width)
                                     : fmt::format("{:>{}}", cell, column.width);
}

std::string without_trailing_zeros(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& c : columns_)
    c.width = std::max({c.width, static_cast<int>(c.name.size()), static_cast<int>(c.unit.size())});
}

std::string Table::header() const {
  std::vector<std::string> names, units;
  for (const Column& c : columns_) {
    names.push_back(c.name);
    units.push_back(c.unit);
  }
  const bool any =
      std::any_of(units.begin(), units.end(), [](const std::string& u) { return !u.empty(); });
  return row(names) + (any ? row(units) : "");
}

std::string Table::row(const std::vector<std::string>& cells) const {
  std::string line;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0) line.append(kGap, ' ');
    line += padded(i < cells.size() ? cells[i] : "", columns_[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string fitted(std::vector<Column> columns, const std::vector<std::vector<std::string>>& rows) {
  for (const auto& cells : rows)
    for (std::size_t i = 0; i < std::min(cells.size(), columns.size()); ++i)
      columns[i].width = std::max(columns[i].width, static_cast<int>(cells[i].size()));
  const Table table(std::move(columns));
  std::string text = table.header();
  for (const auto& cells : rows) text += table.row(cells);
  return text;
}

std::string rounded(double value, int digits) {
  if (value == 0.0) return "0";
  const int whole_digits = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  return without_trailing_zeros(fmt::format("{:.{}f}", value, std::max(0, digits - whole_digits)));
}

std::string readable(Bytes bytes) {
  constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB"};
  if (std::abs(bytes.value) < 1024) return fmt::format("{} B", bytes.value);
  double amount = static_cast<double>(bytes.value) / 1024;
  std::size_t unit = 0;
  for (; std::abs(amount) >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return fmt::format("{} {}", rounded(amount), kUnits[unit]);
}

std::string readable(Seconds time) {
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr std::array kUnits{Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}};
  constexpr double kNextUnit = 0.9995;  // from here on three digits round up to 1.00
  if (time.count() == 0.0) return "0 s";
  for (const Unit& unit : kUnits)
    if (std::abs(time.count()) >= kNextUnit * unit.seconds)
      return fmt::format("{} {}", rounded(time.count() / unit.seconds), unit.name);
  return fmt::format("{} ns", rounded(time.count() * 1e9));
}

std::string readable_wait(Seconds time) {
  const auto s = static_cast<std::int64_t>(std::ceil(std::max(0.0, time.count())));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const auto first = static_cast<std::ptrdiff_t>(number < 0 ? 1 : 0);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > first; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

}  // namespace collmark
